import type { CliRegistrar } from '../core/cli/cli-context';
import { ComputeCommands } from './compute/cli/compute.commands';
import { HostCommands } from './host/cli/host.command';
import { IdentityCommands } from './identity/cli/identity.commands';
import { ImageCommands } from './image/cli/image.command';
import { NetworkingCommands } from './network/cli/network.commands';
import { VolumeCommands } from './storage/cli/volume.command';
import { TaskCommands } from './task/cli/task.command';

/**
 * The client's commands in the order of the help. Named here and not taken from the modules' manifests, which would
 * load their schemas.
 */
export const allCommands: CliRegistrar[] = [
  new ComputeCommands(),
  new ImageCommands(),
  new NetworkingCommands(),
  new VolumeCommands(),
  new HostCommands(),
  new TaskCommands(),
  new IdentityCommands(),
];
