import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import { addDelete } from '../../../core/cli/commands/delete-command';
import { addEdit, addRename } from '../../../core/cli/commands/edit-command';
import type { CliColumn, Tone } from '../../../core/cli/output/cli-column';
import { formatBytes, formatTime, moment } from '../../../core/cli/output/format';
import { addListOptions, type ListOptions } from '../../../core/cli/input/list-options';
import { namesById } from '../../../core/cli/input/names-by-id';
import { parseSize } from '../../../core/cli/input/parse-size';
import { parseYesNo } from '../../../core/cli/input/parse-yes-no';
import { nounCommand, type Noun } from '../../../core/cli/noun';
import { fact, type Section } from '../../../core/cli/output/sections';
import type { Volume } from '../contract/storage.api';

const volumeNoun: Noun = { name: 'volume', plural: 'volumes', path: '/volumes', inProject: true };

const mebibyte = 1024 * 1024;

const roles: Record<Volume['role'], string> = { root: 'root disk', data: 'data', rescue: 'disk for rescue' };

type Names = ReadonlyMap<string, string>;

const good: readonly Volume['state'][] = ['available', 'in-use'];
const toneOf = ({ state }: Volume): Tone => (good.includes(state) ? 'good' : state === 'error' ? 'bad' : 'busy');
const instanceOf = (volume: Volume, names: Names): string =>
  volume.instanceId === null ? '' : (names.get(volume.instanceId) ?? volume.instanceId);

const columns = (names: Names): CliColumn<Volume>[] => [
  { header: 'name', value: (v) => v.name },
  { header: 'state', value: (v) => v.state, tone: toneOf },
  { header: 'size', value: (v) => formatBytes(v.bytes), raw: (v) => v.bytes },
  { header: 'role', value: (v) => v.role },
  { header: 'instance', value: (v) => instanceOf(v, names) },
  { header: 'host', value: (v) => v.host?.name ?? '' },
  { header: 'pool', value: (v) => v.pool },
  { header: 'created', value: (v) => formatTime(v.createdAt), raw: (v) => v.createdAt, wide: true },
  { header: 'id', value: (v) => v.id, wide: true, whole: true },
];

const view =
  (names: Names) =>
  (v: Volume): Section[] => [
    {
      facts: [
        fact('Name', v.name),
        fact('State', v.state, toneOf(v)),
        fact('Size', formatBytes(v.bytes)),
        fact('Role', roles[v.role]),
        fact('Instance', instanceOf(v, names)),
        ...v.attachments.map(({ position, readonly }) =>
          fact('Attached', `as disk ${position}${readonly ? ', read-only' : ''}`),
        ),
        fact('Host', v.host?.name),
        fact('Pool', v.pool),
        ...(v.protected ? [fact('Protected', 'yes, deleting it is refused')] : []),
        fact('Created', moment(v.createdAt)),
        fact('Id', v.id),
      ],
    },
  ];

interface CreateOptions {
  size: string;
  pool?: string;
  instance?: string;
  protected?: boolean;
  wait?: boolean;
}

export class VolumeCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const volume = nounCommand(program, context, volumeNoun, 'disks: those of instances, and your own');
    addListOptions(volume.command('list').description('list volumes')).action(async (options: ListOptions) => {
      const names = await namesById(context, 'instance');
      await context.printList(
        (search) => context.list('/volumes', { query: { ...search, project: context.project() } }),
        columns(names),
        options,
      );
    });
    registerCreate(volume, context);
    volume
      .command('show')
      .description('show a volume')
      .argument('<volume>', 'name or id')
      .action(async (ref: string) => {
        const [found, names] = await Promise.all([context.get<Volume>('volume', ref), namesById(context, 'instance')]);
        context.show(found, view(names));
      });
    addRename(volume, context, volumeNoun);
    addEdit(volume, context, volumeNoun, [
      {
        member: 'protected',
        flags: '--protected <yes|no>',
        description: 'whether deleting it is refused',
        parse: parseYesNo,
      },
    ]);
    addDelete(volume, context, volumeNoun, {
      description: 'delete volumes that no instance has, with all that they hold',
      question: 'Delete % and all that is on it?',
      task: true,
    });
  }
}

const registerCreate = (volume: Command, context: CliContext): void => {
  volume
    .command('create')
    .description('create an empty volume')
    .argument('<name>')
    .requiredOption('--size <size>', 'e.g. 10GiB')
    .option('--pool <pool>', "the installation's default when missing")
    .option('--instance <instance>', 'on the host of this instance, to be attached to it')
    .option('--protected', 'deleting it is refused until this is taken away')
    .option('-w, --wait', 'return when it is there')
    .addHelpText(
      'after',
      '\nA volume stays on the host that it is made on.\n\nExamples:\n  vcctl volume create data --size 10GiB --instance web --wait\n  vcctl instance attach-volume web data --wait',
    )
    .action(async (name: string, options: CreateOptions) => {
      const asked = await context.request('post', '/volumes', {
        query: { project: context.project() },
        body: {
          name,
          bytes: parseSize(options.size, '--size', { least: mebibyte, step: mebibyte }),
          ...(options.pool !== undefined && { pool: options.pool }),
          ...(options.instance !== undefined && { instance: options.instance }),
          ...(options.protected === true && { protected: true }),
        },
      });
      if (options.wait !== true) {
        context.report({ text: `volume ${name}: create accepted (task ${asked.taskId})`, object: asked });
        return;
      }
      await context.follow(asked.taskId);
      context.show(await context.get<Volume>('volume', asked.volume.id), view(new Map()));
    });
};
