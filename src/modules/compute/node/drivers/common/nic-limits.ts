import { access, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exec } from '../../../../../core/host/processes/exec';
import { findProgram } from '../../../../../core/host/processes/find-program';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import { bucketOf, type NicLimits } from '../../../contract/limits';
import type { VmNic, VmSpec } from '../vmm-driver';

/** In the log folder: some card of the machine was limited since it was last started without. */
const noteName = 'limited-nics';
/** Bytes; nftables keeps them in 32 bits. */
const largestBurst = 2 ** 32 - 1;

const tableOf = (tap: string): string => `netdev vc-limit-${tap}`;
/** Also when it is not there. */
const withoutTable = (tap: string): string[] => [`table ${tableOf(tap)}`, `delete table ${tableOf(tap)}`];

/**
 * What drops frames above the limit, in each direction by itself. The kernel's bucket holds a second's worth and the
 * burst. nft 1.0.6 wants every closing brace on a line of its own.
 */
const table = (tap: string, limit: NicLimits): string[] => {
  const { bytesPerSecond } = limit;
  const burst = Math.min(bucketOf(bytesPerSecond, limit) - bytesPerSecond, largestBurst);
  const chain = (name: string, hook: string): string[] => [
    `chain ${name} {`,
    `type filter hook ${hook} device "${tap}" priority 0`,
    `limit rate over ${bytesPerSecond} bytes/second burst ${burst} bytes drop`,
    '}',
  ];
  return [
    ...withoutTable(tap),
    `table ${tableOf(tap)} {`,
    ...chain('from-guest', 'ingress'),
    ...chain('to-guest', 'egress'),
    '}',
  ];
};

const load = async (netns: string | null, lines: readonly string[]): Promise<void> => {
  const into = netns === null ? [] : ['nsenter', `--net=/run/netns/${netns}`, '--'];
  const [program = 'nft', ...args] = [...into, 'nft', '-f', '-'];
  await exec(program, args, { input: `${lines.join('\n')}\n` }).catch((error: unknown) => {
    throw new VerbFailure(
      'nic_limit_failed',
      'The kernel of the host does not limit a NIC.',
      false,
      {},
      { cause: error, detail: (error as Error).message },
    );
  });
};

const rulesOf = ({ tap, limit }: VmNic): string[] => (limit ? table(tap, limit) : withoutTable(tap));

/**
 * The taps of a machine that is about to start pass what its cards may, and no more. A tap keeps its limit when the
 * machine ends, and takes it along when it goes. Throws `VerbFailure` `nic_limit_failed`.
 */
export const limitNics = async ({ nics, netns, logDir }: Pick<VmSpec, 'nics' | 'netns' | 'logDir'>): Promise<void> => {
  const note = join(logDir, noteName);
  const limited = nics.some(({ limit }) => limit !== undefined);
  const before = await access(note).then(
    () => true,
    () => false,
  );
  if (!limited && !before) return;
  if (!before) await writeFile(note, '', { mode: 0o600 });
  await load(netns, nics.flatMap(rulesOf));
  if (!limited) await rm(note, { force: true });
};

/** As `limitNics`, of a card that comes while its machine runs. */
export const limitNic = async (nic: VmNic, netns: string | null, logDir: string): Promise<void> => {
  if (!nic.limit) return;
  await writeFile(join(logDir, noteName), '', { mode: 0o600 });
  await load(netns, rulesOf(nic));
};

/** Whether the kernel can limit cards: tried on the loopback of a network of its own. */
export const canLimitNics = async (): Promise<boolean> => {
  const unshare = findProgram('unshare');
  if (unshare === null) return false;
  const input = `${table('lo', { bytesPerSecond: 1_000_000, burstSeconds: 2 }).join('\n')}\n`;
  return exec(unshare, ['--net', 'nft', '-f', '-'], { input }).then(
    () => true,
    () => false,
  );
};
