import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { TestCloud } from '../support/cloud';
import type { CollectedMemory } from '../support/collected-memory';
import { sh } from '../support/namespaces';

/** What an agent holds of its host. Numbers, but for memory. */
export interface Footprint {
  descriptors: number;
  sockets: number;
  /** Of the agent and its children, of whatever kind. */
  processes: number;
  /** Links in the namespaces of its instances and networks: taps, veths, bridges. */
  links: number;
  namespaces: number;
  cgroups: number;
  /** In its state and run folders. */
  files: number;
  /** What is left when garbage is collected, of JavaScript and beside it. */
  heapBytes: number;
  residentBytes: number;
}

/** What must be again what it was, to the last one. */
export const counted = ['descriptors', 'sockets', 'processes', 'links', 'namespaces', 'cgroups', 'files'] as const;

const entries = (directory: string): string[] => {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
};

const parentOf = (pid: string): string => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? '';
  } catch {
    return '';
  }
};

/** The process and all below it. */
const family = (pid: number): string[] => {
  const parents = new Map(
    entries('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [name, parentOf(name)]),
  );
  const found = [String(pid)];
  for (const one of found) for (const [child, parent] of parents) if (parent === one) found.push(child);
  return found;
};

const descriptorsOf = (pid: string): string[] =>
  entries(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return [];
    }
  });

const lines = (text: string): string[] => text.split('\n').filter(Boolean);

/** Looks at one host's agent of a cloud. */
export class AgentFootprint {
  /**
   * @param instances ids of all that there were
   */
  constructor(
    private readonly cloud: TestCloud,
    private readonly host: string,
    private readonly memory: CollectedMemory,
    private readonly instances: ReadonlySet<string>,
  ) {}

  /** Paths in its state and run folders. */
  files(): string[] {
    return lines(sh('find', join(this.cloud.directory, this.host), '-mindepth', '1'));
  }

  async now(): Promise<Footprint> {
    const { pid } = this.cloud.host(this.host);
    const memory = await this.memory.of(pid);
    const processes = family(pid);
    const descriptors = processes.flatMap(descriptorsOf);
    const namespaces = this.cloud.madeNamespaces();
    return {
      descriptors: descriptors.length,
      sockets: descriptors.filter((one) => one.startsWith('socket:')).length,
      processes: processes.length,
      links: namespaces.flatMap((name) => lines(sh('ip', '-n', name, '-o', 'link', 'show'))).length,
      namespaces: namespaces.length,
      cgroups: lines(sh('find', '/sys/fs/cgroup', '-type', 'd', '-name', 'instance-*')).filter((path) =>
        this.instances.has(basename(path).slice('instance-'.length)),
      ).length,
      files: this.files().length,
      ...memory,
    };
  }
}
