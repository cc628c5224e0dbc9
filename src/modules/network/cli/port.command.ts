import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import type { Port } from '../contract/network.api';

export class PortCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const port = program.command('port').description('where instances join networks');
    port
      .command('list')
      .description('list ports')
      .action(async () => {
        context.print(await context.list<Port>('/ports', { project: context.project() }), [
          { header: 'address', value: (p) => p.address },
          { header: 'mac', value: (p) => p.mac },
          { header: 'network', value: (p) => p.network },
          { header: 'state', value: (p) => p.state },
          { header: 'instance', value: (p) => p.instanceId ?? '' },
          { header: 'message', value: (p) => p.message, wide: true },
          { header: 'id', value: (p) => p.id, wide: true },
        ]);
      });
  }
}
