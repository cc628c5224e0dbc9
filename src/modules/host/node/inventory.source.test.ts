import { pino } from 'pino';
import { Logging } from '../../../core/telemetry/logging';
import { InventorySource } from '../contract/host.ports';
import { HostInventorySource } from './inventory.source';

const entry = (works: boolean): object => ({ kind: 'qemu', works });

/** Failed once, and says so until it is asked to try again. */
class StarvedOnce extends InventorySource {
  readonly part = 'things';
  private works = false;

  override async retest(): Promise<void> {
    this.works = true;
  }

  override async collect(): Promise<object[]> {
    return [entry(this.works)];
  }
}

describe('the test of a host', () => {
  it('tries again what failed, answers what works, and has the heartbeat say so', async () => {
    const changed: string[] = [];
    const source = new HostInventorySource(
      { changed: (section: string) => changed.push(section) },
      { topology: () => Promise.resolve({ nodes: [] }) },
      new Logging(pino({ enabled: false })),
      [new StarvedOnce()],
    );
    await source.collect();
    expect(await source.test()).toEqual({ things: [entry(true)] });
    expect((await source.collect())['things']).toEqual([entry(true)]);
    expect(changed.length).toBeGreaterThanOrEqual(2);
  });
});
