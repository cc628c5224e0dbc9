import { readdir, readFile } from 'node:fs/promises';
import { exec } from '../processes/exec';
import { formatCpuList, parseCpuList } from './cpu-list';

export interface Thread {
  /** Its id here. */
  tid: number;
  /** The id that it has for itself: in its innermost process namespace. */
  inner: number;
  name: string;
  /** The CPUs that it may run on. */
  allowed: number[];
}

const field = (status: string, name: string): string =>
  new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1]?.trim() ?? '';

const threadOf = (tid: number, status: string): Thread => ({
  tid,
  inner: Number(field(status, 'NSpid').split(/\s+/).at(-1) ?? tid) || tid,
  name: field(status, 'Name'),
  allowed: parseCpuList(field(status, 'Cpus_allowed_list')) ?? [],
});

/** The threads of a process, as the kernel has them now; none of a process that is gone. */
export const threadsOf = async (pid: number): Promise<Thread[]> => {
  const tids = await readdir(`/proc/${pid}/task`).catch(() => []);
  const found = await Promise.all(
    tids.map(async (tid) => {
      // It may end while one looks.
      const status = await readFile(`/proc/${pid}/task/${tid}/status`, 'utf8').catch(() => null);
      return status === null ? [] : [threadOf(Number(tid), status)];
    }),
  );
  return found.flat();
};

const same = (one: readonly number[], other: readonly number[]): boolean =>
  one.length === other.length && one.every((cpu, index) => cpu === other[index]);

/**
 * Each thread may run on the CPUs that `wanted` says, and on no others, which the kernel confirms: true then. Threads that
 * come meanwhile have what the one has that made them: they are looked at again. False when nothing had to be done.
 * Throws with what `taskset` or the kernel says.
 */
export const confineThreads = async (
  pid: number,
  wanted: (thread: Thread) => readonly number[],
): Promise<{ changed: boolean }> => {
  let changed = false;
  for (let round = 0; ; round += 1) {
    const wrong = (await threadsOf(pid)).filter((thread) => !same(thread.allowed, wanted(thread)));
    if (wrong.length === 0) return { changed };
    if (round === rounds) {
      const [one] = wrong;
      throw new Error(
        `thread ${one?.name ?? ''} is on CPUs ${formatCpuList(one?.allowed ?? [])} instead of ${formatCpuList(one ? wanted(one) : [])}`,
      );
    }
    changed = true;
    for (const thread of wrong)
      await exec('taskset', ['-pc', formatCpuList(wanted(thread)), String(thread.tid)], { timeoutMs: 5000 }).catch(
        async (error: unknown) => {
          // It has ended: there is nothing to confine.
          if ((await threadsOf(pid)).some(({ tid }) => tid === thread.tid)) throw error;
        },
      );
  }
};
/** How often threads may come while one looks at them. */
const rounds = 5;

/** The CPUs that this process may run on: of all that there are, those that its cpuset and its affinity leave it. */
export const availableCpus = async (root = '/'): Promise<number[] | null> => {
  const status = await readFile(`${root}/proc/self/status`, 'utf8').catch(() => '');
  return parseCpuList(field(status, 'Cpus_allowed_list'));
};
