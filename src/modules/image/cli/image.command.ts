import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import { CliFailure, exitCodes, usageFailure } from '../../../core/cli/cli-failure';
import { formatBytes, formatTime } from '../../../core/cli/format';
import type { Image } from '../contract/image.api';

interface ImportOptions {
  file?: string;
  url?: string;
  name: string;
  checksum?: string;
  format?: string;
  firmware?: string;
  description?: string;
  public?: boolean;
  wait?: boolean;
}

const pathOf = (ref: string): string => `/images/${encodeURIComponent(ref)}`;

export class ImageCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const image = program.command('image').description('disk images that instances start from');
    image
      .command('list')
      .description('list images')
      .action(async () => {
        context.print(await context.list<Image>('/images', { project: context.project() }), [
          { header: 'name', value: (i) => i.name },
          { header: 'state', value: (i) => i.state },
          { header: 'size', value: (i) => (i.virtualBytes === null ? '' : formatBytes(i.virtualBytes)) },
          { header: 'format', value: (i) => i.sourceFormat ?? '' },
          { header: 'public', value: (i) => (i.public ? 'yes' : 'no') },
          { header: 'created', value: (i) => formatTime(i.createdAt) },
          { header: 'firmware', value: (i) => i.firmware, wide: true },
          { header: 'architecture', value: (i) => i.architecture, wide: true },
          { header: 'message', value: (i) => i.message, wide: true },
          { header: 'id', value: (i) => i.id, wide: true },
        ]);
      });
    image
      .command('import')
      .description('import a raw or qcow2 image from a file or a URL')
      .option('--file <file>', 'upload this file')
      .option('--url <url>', 'let the server fetch it from this http or https address')
      .requiredOption('--name <name>')
      .option('--checksum <digest>', 'sha256:<hex> or sha512:<hex> of the bytes as sent')
      .option('--format <format>', 'raw or qcow2; told by its header when missing')
      .option('--firmware <firmware>', 'bios or uefi, when the disk boots by one only: then it runs only on hosts that have it')
      .option('--description <text>')
      .option('--public', 'visible in all projects (admins only)')
      .option('-w, --wait', 'with --url: show each step and return when it is ready (always so with --file)')
      .option('--no-wait', 'with --file: return when the bytes are sent')
      .addHelpText(
        'after',
        '\nExamples:\n  vcctl image import --file debian.qcow2 --name debian\n  vcctl image import --file "$(bin/debian-image bookworm)" --name debian      # made from Debian\'s archive\n  vcctl image import --url https://cloud.example.org/d.qcow2 --name debian --checksum sha256:… --wait',
      )
      .action(async (options: ImportOptions) => context.printOne(await importImage(context, options)));
    image
      .command('show')
      .description('show an image')
      .argument('<image>', 'name or id')
      .action(async (ref: string) => context.printOne(await context.request<Image>('GET', pathOf(ref), { query: { project: context.project() } })));
    image
      .command('delete')
      .description('delete images; instances made of them are not touched')
      .argument('<image...>', 'names or ids')
      .option('-y, --yes', 'do not ask')
      .option('-w, --wait', 'return when they are gone')
      .action(async (refs: string[], options: { yes?: boolean; wait?: boolean }) => {
        if (!options.yes && !(await context.confirm(`Delete ${refs.join(', ')}?`))) return;
        await context.each(refs, async (ref) => {
          const answer = await context.request<{ taskId?: string | null } | undefined>('DELETE', pathOf(ref), { query: { project: context.project() } });
          const taskId = answer?.taskId;
          if (options.wait && taskId) await context.follow(taskId);
          context.info(options.wait || !taskId ? `image ${ref} deleted` : `image ${ref}: delete accepted (task ${taskId})`);
        });
      });
  }
}

const importImage = async (context: CliContext, options: ImportOptions): Promise<Image> => {
  const { file, url, name, wait, ...facts } = options;
  if ((file === undefined) === (url === undefined)) throw usageFailure('name one of --file and --url');
  const body = { name, ...facts, ...(url !== undefined && { url }) };
  const created = await context.request<Image>('POST', '/images', { query: { project: context.project() }, body });
  if (file === undefined) return wait ? settled(context, created) : created;
  const uploaded = await uploadInto(context, created, file);
  return wait === false ? uploaded : settled(context, uploaded);
};

/** When the bytes did not arrive, the record goes too: the same command can be given again. */
const uploadInto = async (context: CliContext, created: Image, file: string): Promise<Image> => {
  try {
    return await context.upload<Image>('PUT', `/images/${created.id}/content`, file);
  } catch (error) {
    await context.request('DELETE', pathOf(created.id)).catch(() => context.info(`The image record ${created.id} could not be removed: vcctl image delete ${created.id}`));
    throw error;
  }
};

const settled = async (context: CliContext, image: Image): Promise<Image> => {
  if (image.taskId !== null) await context.follow(image.taskId);
  const now = await context.request<Image>('GET', pathOf(image.id));
  if (now.state === 'error') throw new CliFailure(`The import failed: ${now.message}`, { exitCode: exitCodes.failed, code: 'image_error' });
  return now;
};
