import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import { NetworkCommands } from './network.command';
import { PortCommands } from './port.command';
import { RouterCommands } from './router.command';
import { SubnetCommands } from './subnet.command';
import { SecurityGroupCommands } from './security-group.command';

/** All commands of the module. */
export class NetworkingCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    for (const commands of [
      new NetworkCommands(),
      new SubnetCommands(),
      new RouterCommands(),
      new PortCommands(),
      new SecurityGroupCommands(),
    ])
      commands.register(program, context);
  }
}
