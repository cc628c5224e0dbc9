import { chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventFd } from '../../../../../core/host/sandbox/launcher-messages';
import { socketFolder } from '../common/vmm-files';
import type { VmSpec } from '../vmm-driver';
import { chSockets } from './ch-config';

/** What the VMM is started with; its machine it is told by its API. */
export const chCommandLine = (spec: Pick<VmSpec, 'runDir' | 'user'>, log: string): string[] => [
  '--api-socket',
  `path=${join(socketFolder(spec), chSockets.api)}`,
  '--event-monitor',
  `fd=${eventFd}`,
  '--log-file',
  log,
  '-v',
  '--seccomp',
  'true',
];

/** Its own log, which it opens by itself: a file that it may write to, in a place where it can put no other. */
export const makeLog = async (path: string, user: number): Promise<void> => {
  await writeFile(path, '', { mode: 0o600 });
  await chown(path, user, user);
};
