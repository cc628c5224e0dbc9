import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import { usageFailure } from '../../../core/cli/cli-failure';
import { formatBytes, formatTime } from '../../../core/cli/format';
import { parseInteger } from '../../../core/cli/parse-size';
import type { Host, HostDetail } from '../contract/host.api';

interface HostToken {
  id: string;
  token: string;
  expiresAt: string;
  command: string;
}

const pathOf = (ref: string): string => `/hosts/${encodeURIComponent(ref)}`;

export class HostCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const host = program.command('host').description('hypervisor hosts (admins only)');
    host
      .command('list')
      .description('list hosts')
      .action(async () => {
        context.print(await context.list<Host>('/hosts'), [
          { header: 'name', value: (h) => h.name },
          { header: 'state', value: (h) => h.state },
          { header: 'schedulable', value: (h) => (h.schedulable ? 'yes' : 'no') },
          { header: 'instances', value: (h) => String(h.capacity.instances) },
          { header: 'vcpus', value: (h) => `${h.capacity.vcpusUsed}/${h.capacity.vcpus}` },
          { header: 'memory', value: (h) => `${formatBytes(h.capacity.memoryBytesUsed)} of ${formatBytes(h.capacity.memoryBytes)}` },
          { header: 'last seen', value: (h) => formatTime(h.lastSeenAt) },
          { header: 'disk', value: (h) => `${formatBytes(h.capacity.diskBytesUsed)} of ${formatBytes(h.capacity.diskBytes)}`, wide: true },
          { header: 'address', value: (h) => h.address, wide: true },
          { header: 'breaker', value: (h) => h.breaker, wide: true },
          { header: 'id', value: (h) => h.id, wide: true },
        ]);
      });
    host
      .command('show')
      .description('show a host with its conditions and inventory')
      .argument('<host>', 'name or id')
      .action(async (ref: string) => context.printOne(await context.request<HostDetail>('GET', pathOf(ref))));
    host
      .command('update')
      .description('take a host out of scheduling, or back in')
      .argument('<host...>', 'names or ids')
      .option('--maintenance', 'no new instances are placed on it')
      .option('--no-maintenance', 'back to work')
      .option('--reason <text>', 'shown to other operators')
      .addHelpText('after', '\nExamples:\n  vcctl host update h1 --maintenance --reason "new memory"\n  vcctl host update h1 --no-maintenance')
      .action((refs: string[], options: { maintenance?: boolean; reason?: string }) => {
        if (options.maintenance === undefined && options.reason === undefined) throw usageFailure('name --maintenance or --no-maintenance');
        return context.each(refs, async (ref) => {
          const updated = await context.request<Host>('PATCH', pathOf(ref), { body: options });
          context.info(`host ${updated.name} is ${updated.state}`);
        });
      });
    host
      .command('delete')
      .description('remove hosts that hold no instance')
      .argument('<host...>', 'names or ids')
      .option('-y, --yes', 'do not ask')
      .action(async (refs: string[], options: { yes?: boolean }) => {
        if (!options.yes && !(await context.confirm(`Remove ${refs.join(', ')}?`))) return;
        await context.each(refs, async (ref) => {
          await context.request('DELETE', pathOf(ref));
          context.info(`host ${ref} removed`);
        });
      });
    host
      .command('token')
      .description('one-time tokens that let new hosts join')
      .command('create')
      .description('make a one-time token and show the command for the new host')
      .option('--expires-in-minutes <minutes>', 'worthless after so long', '30')
      .addHelpText('after', '\nExamples:\n  vcctl host token create')
      .action(async (options: { expiresInMinutes: string }) => {
        const body = { expiresInMinutes: parseInteger(options.expiresInMinutes, '--expires-in-minutes', 1, 1440) };
        context.printOne(await context.request<HostToken>('POST', '/host-tokens', { body }));
      });
  }
}
