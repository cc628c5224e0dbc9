import { execFile } from 'node:child_process';
import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hostHash, hostLinkPrefix, hostTable, netnsPrefix } from '../../src/modules/network/node/drivers/linux/names';

const run = promisify(execFile);

export interface LeftoverOptions {
  /** Network namespace that the host's agent ran in (`ip netns` name); the caller's own when absent. */
  hostNetns?: string;
  /** The host's run folder: its `network` subfolder must be empty. */
  runDir?: string;
}

/**
 * What is left of a host's networks on this machine: namespaces, links, nftables tables, processes in its namespaces,
 * files. One line each, empty when all is gone.
 */
export const leftovers = async (hostId: string, options: LeftoverOptions = {}): Promise<string[]> => {
  const hash = hostHash(hostId);
  const inHost = (program: string, args: string[]): Promise<{ stdout: string }> =>
    options.hostNetns === undefined
      ? run(program, args)
      : run('nsenter', [`--net=/run/netns/${options.hostNetns}`, '--', program, ...args]);
  const found: string[] = [];

  const names = (await readdir('/run/netns').catch(() => [])).filter((n) => n.startsWith(netnsPrefix(hash)));
  const inodes = new Set<string>();
  for (const name of names) {
    found.push(`namespace ${name}`);
    const inode = (await stat(join('/run/netns', name)).catch(() => null))?.ino;
    if (inode !== undefined) inodes.add(`net:[${inode}]`);
  }

  const links = JSON.parse((await inHost('ip', ['-j', 'link', 'show'])).stdout) as { ifname?: string }[];
  for (const link of links) if (link.ifname?.startsWith(hostLinkPrefix(hash))) found.push(`link ${link.ifname}`);

  const tables = (await inHost('nft', ['list', 'tables'])).stdout.split('\n');
  for (const table of tables) if (table.endsWith(` ${hostTable(hash)}`)) found.push(`nftables ${table}`);

  for (const pid of (await readdir('/proc')).filter((p) => /^\d+$/.test(p))) {
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0').join(' ').trim();
    const netns = await readlink(`/proc/${pid}/ns/net`).catch(() => '');
    const ours =
      inodes.has(netns) ||
      (options.runDir !== undefined &&
        command.includes(join(options.runDir, 'network')) &&
        command.startsWith('dnsmasq'));
    // A process without a command line is a zombie that waits to be reaped, or a kernel thread.
    if (ours && command !== '') found.push(`process ${pid} ${command}`);
  }

  if (options.runDir !== undefined) {
    for (const file of await readdir(join(options.runDir, 'network')).catch(() => []))
      found.push(`file ${join(options.runDir, 'network', file)}`);
  }
  return found;
};
