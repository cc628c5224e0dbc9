import { Option, type Command } from 'commander';
import { choice } from '../../../core/cli/input/choice';
import type { CliContext, Outcome } from '../../../core/cli/cli-context';
import { usageFailure } from '../../../core/cli/cli-failure';
import type { CliColumn } from '../../../core/cli/output/cli-column';
import { formatBytes, formatTime } from '../../../core/cli/output/format';
import type { AnswerOf } from '../../../rest/rest-call';
import { coreDumpFormats, type CoreDumpFormat } from '../contract/core-dump-formats';

type CoreDump = AnswerOf<'get', '/instances/{ref}/core-dumps'>['items'][number];

const columns: CliColumn<CoreDump>[] = [
  { header: 'id', value: ({ id }) => id },
  { header: 'format', value: ({ format }) => format },
  { header: 'size', value: ({ bytes }) => formatBytes(bytes), raw: ({ bytes }) => bytes },
  { header: 'created', value: ({ createdAt }) => formatTime(createdAt), raw: ({ createdAt }) => createdAt },
];

const dumpsOf = async (context: CliContext, ref: string): Promise<CoreDump[]> => {
  const query = { project: context.project() };
  return (await context.request('get', '/instances/{ref}/core-dumps', { path: { ref }, query })).items;
};

/** By its id or the beginning of it; the newest when none is named. */
const find = async (context: CliContext, ref: string, named: string | undefined): Promise<CoreDump> => {
  const all = await dumpsOf(context, ref);
  const [found, ...others] = all.filter(({ id }) => named === undefined || id.startsWith(named));
  if (!found) throw usageFailure(named === undefined ? 'it has no core dump' : `it has no core dump ${named}`);
  if (named !== undefined && others.length > 0) throw usageFailure(`several core dumps begin with ${named}`);
  return found;
};

/** `instance core-dump` and what is done with what comes of it. */
export const registerInstanceCoreDumps = (instance: Command, context: CliContext): void => {
  registerMaking(instance, context);
  instance
    .command('core-dumps')
    .description('list the core dumps that its host has of it')
    .argument('<instance>', 'name or id')
    .addHelpText('after', '\nExamples:\n  vcctl instance core-dumps web')
    .action(async (ref: string) =>
      context.print(await dumpsOf(context, await context.resolve('instance', ref)), columns),
    );
  registerDownload(instance, context);
  registerDeletion(instance, context);
};

const registerMaking = (instance: Command, context: CliContext): void => {
  instance
    .command('core-dump')
    .description('write what is in its memory into a file on its host; it stands still meanwhile, and goes on')
    .argument('<instance>', 'name or id')
    .addOption(choice(new Option('--format <format>', 'elf for every tool, kdump-zlib for crash'), coreDumpFormats))
    .option('-w, --wait', 'return when it is whole')
    .addHelpText(
      'after',
      '\nThe memory of a guest holds its secrets. The file stays on its host until it is deleted, or the instance is.\n\nExamples:\n  vcctl instance core-dump web --wait && vcctl instance download-core-dump web --file web.core',
    )
    .action(async (ref: string, options: { format?: CoreDumpFormat; wait?: boolean }) => {
      const asked = await context.request('post', '/instances/{ref}/actions/core-dump', {
        path: { ref: await context.resolve('instance', ref) },
        query: { project: context.project() },
        body: options.format === undefined ? {} : { format: options.format },
      });
      if (options.wait === true) await context.follow(asked.taskId);
      context.report({
        text:
          options.wait === true
            ? `instance ${ref} dumped (core dump ${asked.coreDumpId})`
            : `instance ${ref}: core-dump accepted (task ${asked.taskId})`,
        object: asked,
      });
    });
};

const registerDownload = (instance: Command, context: CliContext): void => {
  instance
    .command('download-core-dump')
    .description('fetch a core dump from its host into a file that only you can read')
    .argument('<instance>', 'name or id')
    .argument('[core-dump]', 'id; the newest when missing')
    .requiredOption('--file <file>', 'where to write it')
    .option('--resume', 'go on at the end of what an earlier attempt has left there')
    .addHelpText(
      'after',
      '\nExamples:\n  vcctl instance download-core-dump web --file web.core\n  vcctl instance download-core-dump web --file web.core --resume',
    )
    .action(async (ref: string, named: string | undefined, options: { file: string; resume?: boolean }) => {
      const id = await context.resolve('instance', ref);
      const dump = await find(context, id, named);
      const bytes = await context.downloadTo(
        '/instances/{ref}/core-dumps/{dump}/content',
        { ref: id, dump: dump.id },
        options.file,
        { query: { project: context.project() }, resume: options.resume === true },
      );
      if (bytes !== dump.bytes)
        throw usageFailure(`${options.file} has ${bytes} bytes, and the core dump ${dump.bytes}: it is not this one`);
      context.report({
        text: `core dump ${dump.id} of ${ref} is in ${options.file}`,
        object: { file: options.file, ...dump },
      });
    });
};

const registerDeletion = (instance: Command, context: CliContext): void => {
  instance
    .command('delete-core-dump')
    .description('delete core dumps of an instance')
    .argument('<instance>', 'name or id')
    .argument('<core-dump...>', 'ids')
    .option('-y, --yes', 'do not ask; without a terminal it must be given')
    .option('-w, --wait', 'return when they are gone')
    .addHelpText('after', '\nExamples:\n  vcctl instance delete-core-dump web 0193 --yes --wait')
    .action(async (ref: string, named: string[], options: { yes?: boolean; wait?: boolean }) => {
      if (!(await context.confirm(`Delete ${named.join(', ')} of ${ref}?`, options.yes))) return;
      const id = await context.resolve('instance', ref);
      await context.each(named, async (one): Promise<Outcome> => {
        const dump = await find(context, id, one);
        const asked = await context.request('delete', '/instances/{ref}/core-dumps/{dump}', {
          path: { ref: id, dump: dump.id },
          query: { project: context.project() },
        });
        if (options.wait !== true)
          return { text: `core dump ${dump.id}: delete accepted (task ${asked.taskId})`, object: asked };
        await context.follow(asked.taskId);
        return { text: `core dump ${dump.id} deleted`, object: asked };
      });
    });
};
