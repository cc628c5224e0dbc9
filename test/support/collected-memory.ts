import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { eventually } from './eventually';
import { repositoryRoot } from './repository';

const told = z.object({ times: z.number(), heapBytes: z.number(), residentBytes: z.number() });

/** What memory a process of ours has left once its garbage is collected. It must have been started with `environment`. */
export class CollectedMemory {
  private asked = 0;

  /** @param file that the process writes to */
  constructor(private readonly file: string) {}

  get environment(): Record<string, string> {
    return {
      NODE_OPTIONS: `--require=${join(repositoryRoot, 'test/support/collect-garbage.js')}`,
      VC_STACK_TEST_MEMORY_FILE: this.file,
    };
  }

  /** Heap and what lies beside it, and what is resident but for pages that the heap ever had. Bytes. */
  async of(pid: number): Promise<{ heapBytes: number; residentBytes: number }> {
    this.asked += 1;
    process.kill(pid, 'SIGUSR2');
    return eventually('the process says what memory it has', () => {
      if (!existsSync(this.file)) return undefined;
      const { times, ...memory } = told.parse(JSON.parse(readFileSync(this.file, 'utf8')));
      return times >= this.asked && memory;
    });
  }
}
