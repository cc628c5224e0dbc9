import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import { ApiTokenCommands } from './api-token.command';
import { ProjectCommands } from './project.command';
import { UserCommands } from './user.command';

/** All commands of the module. */
export class IdentityCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    for (const commands of [new ProjectCommands(), new UserCommands(), new ApiTokenCommands()])
      commands.register(program, context);
  }
}
