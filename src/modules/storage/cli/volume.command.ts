import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import type { CliColumn, Tone } from '../../../core/cli/output/cli-column';
import { formatBytes, formatTime, moment } from '../../../core/cli/output/format';
import { addListOptions, type ListOptions } from '../../../core/cli/input/list-options';
import { namesById } from '../../../core/cli/input/names-by-id';
import { nounCommand, type Noun } from '../../../core/cli/noun';
import { fact, type Section } from '../../../core/cli/output/sections';
import type { Volume } from '../contract/storage.api';

const volumeNoun: Noun = { name: 'volume', plural: 'volumes', path: '/volumes', inProject: true, listOnly: true };

type Names = ReadonlyMap<string, string>;

const toneOf = (volume: Volume): Tone =>
  volume.state === 'in-use' ? 'good' : volume.state === 'error' ? 'bad' : 'busy';
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
        fact('Role', v.role === 'root' ? 'root disk' : v.role),
        fact('Instance', instanceOf(v, names)),
        fact('Host', v.host?.name),
        fact('Pool', v.pool),
        fact('Created', moment(v.createdAt)),
        fact('Id', v.id),
      ],
    },
  ];

export class VolumeCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const volume = nounCommand(program, context, volumeNoun, 'disks of instances');
    addListOptions(volume.command('list').description('list volumes')).action(async (options: ListOptions) => {
      const names = await namesById(context, 'instance');
      await context.printList(
        (search) => context.list('/volumes', { query: { ...search, project: context.project() } }),
        columns(names),
        options,
      );
    });
    volume
      .command('show')
      .description('show a volume')
      .argument('<volume>', 'name or id')
      .action(async (ref: string) => {
        const [found, names] = await Promise.all([context.get<Volume>('volume', ref), namesById(context, 'instance')]);
        context.show(found, view(names));
      });
  }
}
