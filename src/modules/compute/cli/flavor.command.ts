import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import { formatBytes, formatTime } from '../../../core/cli/format';
import { parseInteger, parseSize } from '../../../core/cli/parse-size';
import type { Flavor } from '../contract/compute.api';

const pathOf = (ref: string): string => `/flavors/${encodeURIComponent(ref)}`;

export class FlavorCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const flavor = program.command('flavor').description('sizes of instances');
    flavor
      .command('list')
      .description('list flavors')
      .action(async () => {
        context.print(await context.list<Flavor>('/flavors'), [
          { header: 'name', value: (f) => f.name },
          { header: 'vcpus', value: (f) => String(f.vcpus) },
          { header: 'memory', value: (f) => formatBytes(f.memoryBytes) },
          { header: 'disk', value: (f) => (f.diskBytes === 0 ? "the image's" : formatBytes(f.diskBytes)) },
          { header: 'created', value: (f) => formatTime(f.createdAt), wide: true },
          { header: 'id', value: (f) => f.id, wide: true },
        ]);
      });
    flavor
      .command('create')
      .description('create a flavor (admins only)')
      .argument('<name>')
      .requiredOption('--vcpus <count>', 'virtual CPUs')
      .requiredOption('--memory <size>', 'e.g. 256MiB or 4GiB')
      .option('--disk <size>', "root disk, e.g. 10GiB; as large as the image when missing")
      .option('--description <text>')
      .addHelpText('after', '\nExamples:\n  vcctl flavor create tiny --vcpus 1 --memory 256MiB\n  vcctl flavor create large --vcpus 8 --memory 16GiB --disk 40GiB')
      .action(async (name: string, options: { vcpus: string; memory: string; disk?: string; description?: string }) => {
        const body = {
          name,
          vcpus: parseInteger(options.vcpus, '--vcpus', 1),
          memoryBytes: parseSize(options.memory, '--memory'),
          ...(options.disk !== undefined && { diskBytes: parseSize(options.disk, '--disk') }),
          ...(options.description !== undefined && { description: options.description }),
        };
        context.printOne(await context.request<Flavor>('POST', '/flavors', { body }));
      });
    flavor
      .command('show')
      .description('show a flavor')
      .argument('<flavor>', 'name or id')
      .action(async (ref: string) => context.printOne(await context.request<Flavor>('GET', pathOf(ref))));
    flavor
      .command('delete')
      .description('delete flavors; instances made with them keep their size')
      .argument('<flavor...>', 'names or ids')
      .option('-y, --yes', 'do not ask')
      .action(async (refs: string[], options: { yes?: boolean }) => {
        if (!options.yes && !(await context.confirm(`Delete ${refs.join(', ')}?`))) return;
        await context.each(refs, async (ref) => {
          await context.request('DELETE', pathOf(ref));
          context.info(`flavor ${ref} deleted`);
        });
      });
  }
}
