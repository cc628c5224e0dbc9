import { Option, type Command } from 'commander';
import { choice } from '../../../core/cli/input/choice';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import type { CliColumn, Tone } from '../../../core/cli/output/cli-column';
import { CliFailure, exitCodes, usageFailure } from '../../../core/cli/cli-failure';
import { addDelete } from '../../../core/cli/commands/delete-command';
import { addEdit, addRename } from '../../../core/cli/commands/edit-command';
import { formatBytes, formatTime, moment } from '../../../core/cli/output/format';
import { addListOptions, type ListOptions } from '../../../core/cli/input/list-options';
import { projectNames } from '../../../core/cli/input/names-by-id';
import { nounCommand, type Noun } from '../../../core/cli/noun';
import { readText } from '../../../core/cli/input/read-file';
import { fact, type Section } from '../../../core/cli/output/sections';
import type { Image } from '../contract/image.api';

const imageNoun: Noun = { name: 'image', plural: 'images', path: '/images', inProject: true };

interface ImportOptions {
  file?: string;
  url?: string;
  name: string;
  checksum?: string;
  format?: 'raw' | 'qcow2';
  firmware?: 'bios' | 'uefi';
  vmm?: string;
  kernel?: string;
  initramfs?: string;
  commandLine?: string;
  vendorData?: string;
  description?: string;
  public?: boolean;
  wait?: boolean;
}

/** As the API has it. */
const maxVendorDataBytes = 65_536;
const readVendorData = (file: string): Promise<string> => readText(file, '--vendor-data', maxVendorDataBytes);

const toneOf = (image: Image): Tone => (image.state === 'ready' ? 'good' : image.state === 'error' ? 'bad' : 'busy');
const sizeOf = (bytes: number | null): string => (bytes === null ? '' : formatBytes(bytes));

const columns: CliColumn<Image>[] = [
  { header: 'name', value: (i) => i.name },
  { header: 'state', value: (i) => i.state, tone: toneOf },
  { header: 'size', value: (i) => sizeOf(i.virtualBytes), raw: (i) => i.virtualBytes },
  { header: 'format', value: (i) => i.sourceFormat ?? '' },
  { header: 'public', value: (i) => (i.public ? 'yes' : 'no') },
  { header: 'created', value: (i) => formatTime(i.createdAt), raw: (i) => i.createdAt },
  { header: 'firmware', value: (i) => i.firmware, wide: true },
  { header: 'vmm', value: (i) => i.vmm ?? '', wide: true },
  { header: 'architecture', value: (i) => i.architecture, wide: true },
  { header: 'message', value: (i) => i.message, wide: true },
  { header: 'id', value: (i) => i.id, wide: true, whole: true },
];

const view =
  (project?: string) =>
  (i: Image): Section[] => [
    {
      facts: [
        fact('Name', i.name),
        fact('State', i.message === '' ? i.state : `${i.state}: ${i.message}`, toneOf(i)),
        ...(i.description === '' ? [] : [fact('Description', i.description)]),
        fact('Disk', sizeOf(i.virtualBytes)),
        fact('As sent', i.sourceFormat === null ? '' : `${i.sourceFormat}, ${sizeOf(i.sourceBytes)}`),
        fact('SHA-256', i.sha256),
        fact('Architecture', i.architecture),
        fact('Firmware', i.firmware),
        ...kernelFacts(i),
        ...(i.vmm === null ? [] : [fact('VMM', i.vmm)]),
        ...(i.vendorData ? [fact('Vendor data', i.vendorData)] : []),
        fact('Public', i.public ? 'yes, in all projects' : 'no'),
        ...(project === undefined ? [] : [fact('Project', project)]),
        ...(i.taskId === null ? [] : [fact('Task', i.taskId)]),
        fact('Created', moment(i.createdAt)),
        fact('Id', i.id),
      ],
    },
  ];

/** A server of a release from before says nothing of one. */
const kernelFacts = ({ kernel }: Partial<Image>): ReturnType<typeof fact>[] => {
  if (kernel == null) return [];
  const file = (of: { bytes: number } | null): string => (of === null ? 'none' : sizeOf(of.bytes));
  return [
    fact('Kernel', kernel.kernel === null ? 'not sent yet' : file(kernel.kernel)),
    fact('Initramfs', file(kernel.initramfs)),
    fact('Command line', kernel.commandLine),
  ];
};

export class ImageCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const image = nounCommand(program, context, imageNoun, 'disk images that instances start from');
    addListOptions(image.command('list').description('list images')).action((options: ListOptions) =>
      context.printList(
        (search) => context.list('/images', { query: { ...search, project: context.project() } }),
        columns,
        options,
      ),
    );
    image
      .command('import')
      .description('import a raw or qcow2 image from a file or a URL')
      .option('--file <file>', 'upload this file')
      .option('--url <url>', 'let the server fetch it from this http or https address')
      .requiredOption('--name <name>')
      .option('--checksum <digest>', 'sha256:<hex> or sha512:<hex> of the bytes as sent')
      .addOption(
        choice(new Option('--format <format>', 'raw or qcow2; told by its header when missing'), ['raw', 'qcow2']),
      )
      .addOption(
        choice(
          new Option(
            '--firmware <firmware>',
            'bios or uefi, for hosts that have it; found by the partition table and boot sectors when missing',
          ),
          ['bios', 'uefi'],
        ),
      )
      .option('--kernel <file>', 'with --file: boot by this kernel (bzImage or vmlinux), whatever is on the disk')
      .option('--initramfs <file>', 'with --kernel: upload this initramfs too')
      .option('--command-line <text>', 'with --kernel: what it is told, e.g. "root=/dev/vda1 console=ttyS0"')
      .option('--vmm <kind>', 'its instances run on this kind of virtual machine monitor, e.g. qemu')
      .option(
        '--vendor-data <file>',
        'given to every guest of this image beside its user data: text in one of the forms of cloud-init',
      )
      .option('--description <text>')
      .option('--public', 'visible in all projects (admins only)')
      .option('-w, --wait', 'with --url: show each step and return when it is ready (always so with --file)')
      .option('--no-wait', 'with --file: return when the bytes are sent')
      .addHelpText(
        'after',
        '\nExamples:\n  vcctl image import --file debian.qcow2 --name debian\n  vcctl image import --file "$(bin/debian-image bookworm)" --name debian      # made from Debian\'s archive\n  vcctl image import --file root.raw --kernel vmlinuz --initramfs initrd.img --command-line "root=/dev/vda1 console=ttyS0" --name direct\n  vcctl image import --url https://cloud.example.org/d.qcow2 --name debian --checksum sha256:… --wait',
      )
      .action(async (options: ImportOptions) => context.show(await importImage(context, options), view()));
    image
      .command('show')
      .description('show an image')
      .argument('<image>', 'name or id')
      .action(async (ref: string) => {
        const [found, projects] = await Promise.all([context.get<Image>('image', ref), projectNames(context)]);
        context.show(found, view(projects.get(found.projectId)));
      });
    addRename(image, context, imageNoun);
    addEdit(image, context, imageNoun, [
      { member: 'description', flags: '--description <text>', description: 'what is on it' },
      {
        member: 'vmm',
        flags: '--vmm <kind>',
        description: "instances made from now on run on this kind of virtual machine monitor; '' for any",
        parse: (kind) => Promise.resolve(kind === '' ? null : kind),
      },
      {
        member: 'kernel',
        flags: '--command-line <text>',
        description: 'of an image with a kernel: what it is told in instances made from now on',
        parse: (commandLine) => Promise.resolve({ commandLine }),
      },
      {
        member: 'vendorData',
        flags: '--vendor-data <file>',
        description: "given to guests made from now on; '' for none",
        parse: (file) => (file === '' ? null : readVendorData(file)),
      },
    ]);
    addDelete(image, context, imageNoun, {
      description: 'delete images; instances made of them are not touched',
      task: true,
    });
  }
}

const importImage = async (context: CliContext, options: ImportOptions): Promise<Image> => {
  const { file, url, name, wait, vendorData, kernel, initramfs, commandLine, ...facts } = options;
  if ((file === undefined) === (url === undefined)) throw usageFailure('name one of --file and --url');
  if (kernel !== undefined && file === undefined) throw usageFailure('--kernel goes with --file: it is uploaded too');
  if (kernel === undefined && (initramfs !== undefined || commandLine !== undefined))
    throw usageFailure('--initramfs and --command-line go with --kernel');
  const body = {
    name,
    ...facts,
    ...(kernel !== undefined && { kernel: { commandLine: commandLine ?? '' } }),
    ...(vendorData !== undefined && { vendorData: await readVendorData(vendorData) }),
    ...(url !== undefined && { url }),
  };
  const created = await context.request('post', '/images', { query: { project: context.project() }, body });
  if (file === undefined) return wait ? settled(context, created) : created;
  const uploaded = await uploadInto(context, created, { kernel, initramfs, content: file });
  return wait === false ? uploaded : settled(context, uploaded);
};

/** The disk comes last. When bytes did not arrive, the record goes too: the same command can be given again. */
const uploadInto = async (
  context: CliContext,
  created: Image,
  files: { kernel: string | undefined; initramfs: string | undefined; content: string },
): Promise<Image> => {
  const path = { ref: created.id };
  try {
    if (files.kernel !== undefined) await context.upload('/images/{ref}/kernel', path, files.kernel);
    if (files.initramfs !== undefined) await context.upload('/images/{ref}/initramfs', path, files.initramfs);
    return await context.upload('/images/{ref}/content', path, files.content);
  } catch (error) {
    await context
      .request('delete', '/images/{ref}', { path: { ref: created.id } })
      .catch(() =>
        context.info(`The image record ${created.id} could not be removed: vcctl image delete ${created.id}`),
      );
    throw error;
  }
};

const settled = async (context: CliContext, image: Image): Promise<Image> => {
  if (image.taskId !== null) await context.follow(image.taskId);
  const now = await context.request('get', '/images/{ref}', { path: { ref: image.id } });
  if (now.state === 'error')
    throw new CliFailure(`The import failed: ${now.message}`, { exitCode: exitCodes.failed, code: 'image_error' });
  return now;
};
