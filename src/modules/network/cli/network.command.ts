import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import { formatTime } from '../../../core/cli/format';
import type { Network } from '../contract/network.api';

const pathOf = (ref: string): string => `/networks/${encodeURIComponent(ref)}`;
const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];

export class NetworkCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const network = program.command('network').description('private networks of a project');
    network
      .command('list')
      .description('list networks')
      .action(async () => {
        context.print(await context.list<Network>('/networks', { project: context.project() }), [
          { header: 'name', value: (n) => n.name },
          { header: 'subnet', value: (n) => n.subnet },
          { header: 'gateway', value: (n) => n.gateway },
          { header: 'nat', value: (n) => (n.nat ? 'yes' : 'no') },
          { header: 'addresses', value: (n) => `${n.addresses.used}/${n.addresses.total}` },
          { header: 'dns', value: (n) => n.dns.join(', '), wide: true },
          { header: 'mtu', value: (n) => String(n.mtu), wide: true },
          { header: 'created', value: (n) => formatTime(n.createdAt), wide: true },
          { header: 'id', value: (n) => n.id, wide: true },
        ]);
      });
    network
      .command('create')
      .description('create a network')
      .argument('<name>')
      .requiredOption('--subnet <cidr>', 'IPv4 from /8 to /29, e.g. 10.10.0.0/24')
      .option('--gateway <address>', 'the first usable address when missing')
      .option('--dns <address>', 'name server for its guests; may be repeated, at most 3', collect)
      .option('--no-nat', 'no way to the outside (with it, guests reach what lies behind the uplink, not the hosts nor their networks)')
      .option('--description <text>')
      .addHelpText('after', '\nExamples:\n  vcctl network create n1 --subnet 10.10.0.0/24\n  vcctl network create inner --subnet 10.20.0.0/24 --no-nat')
      .action(async (name: string, options: { subnet: string; gateway?: string; dns?: string[]; nat: boolean; description?: string }) => {
        context.printOne(await context.request<Network>('POST', '/networks', { query: { project: context.project() }, body: { name, ...options } }));
      });
    network
      .command('show')
      .description('show a network')
      .argument('<network>', 'name or id')
      .action(async (ref: string) => context.printOne(await context.request<Network>('GET', pathOf(ref), { query: { project: context.project() } })));
    network
      .command('delete')
      .description('delete networks that no instance uses')
      .argument('<network...>', 'names or ids')
      .option('-y, --yes', 'do not ask')
      .option('-w, --wait', 'return when they are gone')
      .action(async (refs: string[], options: { yes?: boolean; wait?: boolean }) => {
        if (!options.yes && !(await context.confirm(`Delete ${refs.join(', ')}?`))) return;
        await context.each(refs, async (ref) => {
          const answer = await context.request<{ taskId?: string | null } | undefined>('DELETE', pathOf(ref), { query: { project: context.project() } });
          const taskId = answer?.taskId;
          if (options.wait && taskId) await context.follow(taskId);
          context.info(options.wait || !taskId ? `network ${ref} deleted` : `network ${ref}: delete accepted (task ${taskId})`);
        });
      });
  }
}
