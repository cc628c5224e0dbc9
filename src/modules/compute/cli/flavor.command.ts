import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import type { CliColumn } from '../../../core/cli/output/cli-column';
import { addDelete } from '../../../core/cli/commands/delete-command';
import { addEdit, addRename } from '../../../core/cli/commands/edit-command';
import { formatBytes, formatTime, moment } from '../../../core/cli/output/format';
import { addListOptions, type ListOptions } from '../../../core/cli/input/list-options';
import { nounCommand, type Noun } from '../../../core/cli/noun';
import { parseInteger, parseSize } from '../../../core/cli/input/parse-size';
import { fact, type Section } from '../../../core/cli/output/sections';
import type { Flavor } from '../contract/compute.api';
import { readVendorData } from './guest-data-file';
import { addHardwareOptions, hardwareFacts, hardwareFrom, type HardwareOptions } from './hardware-options';
import { addLimitOptions, limitFacts, limitsFrom, type LimitOptions } from './limit-options';

const flavorNoun: Noun = { name: 'flavor', plural: 'flavors', path: '/flavors', inProject: false };

const mebibyte = 1024 * 1024;
/** As the API has it: `createFlavor` of the contract. */
const leastMemory = 64 * mebibyte;

const diskOf = (flavor: { diskBytes: number }): string =>
  flavor.diskBytes === 0 ? 'as large as the image' : formatBytes(flavor.diskBytes);

const columns: CliColumn<Flavor>[] = [
  { header: 'name', value: (f) => f.name },
  { header: 'vcpus', value: (f) => String(f.vcpus), raw: (f) => f.vcpus },
  { header: 'memory', value: (f) => formatBytes(f.memoryBytes), raw: (f) => f.memoryBytes },
  {
    header: 'disk',
    value: (f) => (f.diskBytes === 0 ? "the image's" : formatBytes(f.diskBytes)),
    raw: (f) => f.diskBytes,
  },
  { header: 'vmm', value: (f) => f.vmm ?? '', wide: true },
  { header: 'description', value: (f) => f.description, wide: true },
  { header: 'created', value: (f) => formatTime(f.createdAt), raw: (f) => f.createdAt, wide: true },
  { header: 'id', value: (f) => f.id, wide: true, whole: true },
];

const view = (flavor: Flavor): Section[] => [
  {
    facts: [
      fact('Name', flavor.name),
      ...(flavor.description === '' ? [] : [fact('Description', flavor.description)]),
      fact('vCPUs', String(flavor.vcpus)),
      fact('Memory', formatBytes(flavor.memoryBytes)),
      fact('Root disk', diskOf(flavor)),
      ...(flavor.vmm === null ? [] : [fact('VMM', flavor.vmm)]),
      ...limitFacts(flavor.limits),
      ...hardwareFacts(flavor.hardware),
      ...(flavor.vendorData ? [fact('Vendor data', flavor.vendorData)] : []),
      fact('Created', moment(flavor.createdAt)),
      fact('Id', flavor.id),
    ],
  },
];

export class FlavorCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const flavor = nounCommand(program, context, flavorNoun, 'sizes of instances');
    addListOptions(flavor.command('list').description('list flavors')).action((options: ListOptions) =>
      context.printList((search) => context.list('/flavors', { query: search }), columns, options),
    );
    addHardwareOptions(
      addLimitOptions(
        flavor
          .command('create')
          .description('create a flavor (admins only)')
          .argument('<name>')
          .requiredOption('--vcpus <count>', 'virtual CPUs')
          .requiredOption('--memory <size>', 'e.g. 256MiB or 4GiB; at least 64 MiB')
          .option('--disk <size>', 'root disk, e.g. 10GiB; as large as the image when missing')
          .option(
            '--vendor-data <file>',
            'given to every guest of this flavor beside its user data: text in one of the forms of cloud-init',
          )
          .option('--vmm <kind>', 'its instances run on this kind of virtual machine monitor, e.g. qemu'),
      ),
    )
      .option('--description <text>')
      .addHelpText(
        'after',
        '\nExamples:\n  vcctl flavor create tiny --vcpus 1 --memory 256MiB\n  vcctl flavor create large --vcpus 8 --memory 16GiB --disk 40GiB',
      )
      .action(
        async (
          name: string,
          options: LimitOptions &
            HardwareOptions & {
              vcpus: string;
              memory: string;
              disk?: string;
              vendorData?: string;
              vmm?: string;
              description?: string;
            },
        ) => {
          const body = {
            name,
            vcpus: parseInteger(options.vcpus, '--vcpus', 1, 1024),
            memoryBytes: parseSize(options.memory, '--memory', { least: leastMemory, step: mebibyte }),
            ...(options.disk !== undefined && {
              diskBytes: parseSize(options.disk, '--disk', { least: mebibyte, step: mebibyte }),
            }),
            ...(options.vendorData !== undefined && { vendorData: await readVendorData(options.vendorData) }),
            ...(options.vmm !== undefined && { vmm: options.vmm }),
            ...limitsFrom(options),
            ...hardwareFrom(options),
            ...(options.description !== undefined && { description: options.description }),
          };
          context.show(await context.request('post', '/flavors', { body }), view);
        },
      );
    flavor
      .command('show')
      .description('show a flavor')
      .argument('<flavor>', 'name or id')
      .action(async (ref: string) => context.show(await context.get<Flavor>('flavor', ref), view));
    addRename(flavor, context, flavorNoun);
    addEdit(flavor, context, flavorNoun, [
      { member: 'description', flags: '--description <text>', description: 'what it is for' },
      {
        member: 'vendorData',
        flags: '--vendor-data <file>',
        description: "given to guests made from now on; '' for none",
        parse: (file) => (file === '' ? null : readVendorData(file)),
      },
    ]);
    addDelete(flavor, context, flavorNoun, { description: 'delete flavors; instances made with them keep their size' });
  }
}
