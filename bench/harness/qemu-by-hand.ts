import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { qemuSockets } from '../../src/modules/compute/node/drivers/qemu/qemu-arguments';
import { QmpClient } from '../../src/modules/compute/node/drivers/qemu/qmp-client';

const deadlineMs = 60_000;

/**
 * A machine by hand, as root and in the open: milliseconds from the command to its monitor's word that it runs. It is
 * gone afterwards. Throws with what QEMU said when it ends before.
 */
export const qemuByHand = async (binary: string, args: readonly string[], runDirectory: string): Promise<number> => {
  const from = performance.now();
  const child = spawn(binary, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const said = text(child.stderr);
  let ended: string | undefined;
  child.once('error', (error) => (ended = error.message));
  child.once('exit', (code, signal) => (ended ??= signal ?? `exit ${code ?? '?'}`));
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  try {
    for (;;) {
      const qmp = await QmpClient.connect(join(runDirectory, qemuSockets.commands), 0, 5000).catch(() => null);
      if (qmp) {
        const { status } = await qmp.execute<{ status: string }>('query-status').finally(() => qmp.close());
        if (status === 'running') return performance.now() - from;
      }
      if (ended !== undefined) throw new Error(`${binary} ended (${ended}): ${(await said).trim()}`);
      if (performance.now() - from > deadlineMs) throw new Error(`${binary} does not run after ${deadlineMs} ms`);
      await delay(2);
    }
  } finally {
    child.kill('SIGKILL');
    await gone;
  }
};
