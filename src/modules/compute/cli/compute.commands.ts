import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import { FlavorCommands } from './flavor.command';
import { InstanceCommands } from './instance.command';
import { ShareCommands } from './share.command';
import { SshKeyCommands } from './ssh-key.command';

/** All commands of the module. */
export class ComputeCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    for (const commands of [new InstanceCommands(), new FlavorCommands(), new SshKeyCommands(), new ShareCommands()])
      commands.register(program, context);
  }
}
