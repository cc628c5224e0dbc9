import { z } from 'zod';
import { ChError } from './ch-error';
import type { ChTransport } from './ch-transport';
import type { ChVmConfig } from './ch-config';

const pingSchema = z.object({
  build_version: z.string(),
  version: z.string().optional(),
  pid: z.number().int(),
  features: z.array(z.string()).nullish(),
});
const infoSchema = z.object({
  state: z.string(),
  config: z.record(z.string(), z.unknown()),
  memory_actual_size: z.number().nullish(),
  device_tree: z.record(z.string(), z.unknown()).nullish(),
});

export type ChPing = z.infer<typeof pingSchema>;
export type ChInfo = z.infer<typeof infoSchema>;

/**
 * Milliseconds. Calls that join threads or touch all of RAM take their time; a client that gives up does not cancel
 * them.
 */
const deadlines = { short: 10_000, long: 120_000, ping: 5000 } as const;

/** A reply's reasons: a JSON array of texts since v47, one text before, nothing for some refusals. */
const reasons = (body: string): string[] => {
  try {
    const parsed = z.array(z.string()).safeParse(JSON.parse(body));
    if (parsed.success) return parsed.data;
  } catch {
    // Older versions answer in plain text.
  }
  return body === '' ? [] : [body];
};

/**
 * Cloud Hypervisor's API of one VM. One call is in flight at a time: its server handles one anyway, and a second would
 * only wait inside its deadline.
 */
export class ChClient {
  private queue: Promise<unknown> = Promise.resolve();

  constructor(private readonly transport: ChTransport) {}

  async ping(): Promise<ChPing> {
    return pingSchema.parse(JSON.parse(await this.call('GET', 'vmm.ping', null, deadlines.ping)));
  }

  /** The VM as it is. Null when none was created. */
  async info(): Promise<ChInfo | null> {
    try {
      return infoSchema.parse(JSON.parse(await this.call('GET', 'vm.info', null, deadlines.short)));
    } catch (error) {
      if (error instanceof ChError && error.says('VM is not created')) return null;
      throw error;
    }
  }

  async create(config: ChVmConfig): Promise<void> {
    await this.call('PUT', 'vm.create', JSON.stringify(config), deadlines.short);
  }

  async boot(): Promise<void> {
    await this.call('PUT', 'vm.boot', null, deadlines.long);
  }

  async reboot(): Promise<void> {
    await this.call('PUT', 'vm.reboot', null, deadlines.long);
  }

  async pause(): Promise<void> {
    await this.call('PUT', 'vm.pause', null, deadlines.long);
  }

  async resume(): Promise<void> {
    await this.call('PUT', 'vm.resume', null, deadlines.long);
  }

  /** Into an empty folder that is there; the VM must be paused, and stays so. */
  async snapshot(directory: string): Promise<void> {
    await this.call('PUT', 'vm.snapshot', JSON.stringify({ destination_url: `file://${directory}` }), deadlines.long);
  }

  /** The VM of a snapshot, paused. */
  async restore(directory: string): Promise<void> {
    await this.call('PUT', 'vm.restore', JSON.stringify({ source_url: `file://${directory}` }), deadlines.long);
  }

  /**
   * Into a file that is not there yet. A VM that runs is paused for it and goes on afterwards, unless it fails. `signal`
   * ends the wait and nothing else. Throws `ChError` of status 404 where the VMM was built without it.
   */
  async coredump(path: string, timeoutMs: number, signal?: AbortSignal): Promise<void> {
    await this.call('PUT', 'vm.coredump', JSON.stringify({ destination_url: `file://${path}` }), timeoutMs, signal);
  }

  async nmi(): Promise<void> {
    await this.call('PUT', 'vm.nmi', null, deadlines.short);
  }

  async addNet(net: ChVmConfig['net'][number]): Promise<void> {
    await this.call('PUT', 'vm.add-net', JSON.stringify(net), deadlines.long);
  }

  async addDisk(disk: ChVmConfig['disks'][number]): Promise<void> {
    await this.call('PUT', 'vm.add-disk', JSON.stringify(disk), deadlines.long);
  }

  /** What is not said stays. More than one of both is not taken back when the other fails. */
  async resize(
    wanted: { desired_vcpus: number } | { desired_ram: number } | { desired_balloon: number },
  ): Promise<void> {
    await this.call('PUT', 'vm.resize', JSON.stringify(wanted), deadlines.long);
  }

  /** Only asks: the guest lets the device go when it likes. */
  async removeDevice(id: string): Promise<void> {
    await this.call('PUT', 'vm.remove-device', JSON.stringify({ id }), deadlines.short);
  }

  async powerButton(): Promise<void> {
    await this.call('PUT', 'vm.power-button', null, deadlines.short);
  }

  /**
   * Ends VM and process. The process may be gone before its answer is read: no answer is no failure here, the caller
   * looks at the pid.
   */
  async shutdownVmm(timeoutMs: number): Promise<void> {
    await this.call('PUT', 'vmm.shutdown', null, timeoutMs).catch((error: unknown) => {
      if (!(error instanceof ChError) || !error.unanswered) throw error;
    });
  }

  private call(
    method: 'GET' | 'PUT',
    endpoint: string,
    body: string | null,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<string> {
    const result = this.queue.then(async () => {
      const reply = await this.transport(method, endpoint, body, timeoutMs, signal);
      if (reply.status >= 200 && reply.status < 300) return reply.body;
      throw new ChError(endpoint, reply.status, reasons(reply.body));
    });
    this.queue = result.catch(() => undefined);
    return result;
  }
}
