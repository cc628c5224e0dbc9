import type { CliRegistrar } from './core/cli/cli-context';
import { runVcctl } from './core/cli/program';
import { ComputeCommands } from './modules/compute/cli/compute.commands';
import { HostCommands } from './modules/host/cli/host.command';
import { IdentityCommands } from './modules/identity/cli/identity.commands';
import { ImageCommands } from './modules/image/cli/image.command';
import { NetworkingCommands } from './modules/network/cli/network.commands';
import { VolumeCommands } from './modules/storage/cli/volume.command';
import { TaskCommands } from './modules/task/cli/task.command';

/** The client's commands in the order of the help. Named here and not taken from the modules' manifests, which would load their schemas. */
const registrars: CliRegistrar[] = [new ComputeCommands(), new ImageCommands(), new NetworkingCommands(), new VolumeCommands(), new HostCommands(), new TaskCommands(), new IdentityCommands()];

// `vcctl ... | head` closes the pipe early; that is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

void runVcctl(process.argv, process.env, registrars).then((exitCode) => {
  process.exitCode = exitCode;
});
