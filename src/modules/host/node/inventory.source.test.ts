import { pino } from 'pino';
import { Logging } from '../../../core/telemetry/logging';
import type { VmmInventory } from '../contract/host.api';
import { InventorySource } from '../contract/host.ports';
import { HostInventorySource } from './inventory.source';

const vmm = (usable: boolean): VmmInventory => ({
  kind: 'qemu',
  version: '10',
  accel: 'kvm',
  usable,
  reason: '',
  capabilities: [],
});

/** Failed once, and says so until it is asked to try again. */
class StarvedOnce extends InventorySource {
  readonly part = 'vmms';
  private works = false;

  override async retest(): Promise<void> {
    this.works = true;
  }

  override async collect(): Promise<VmmInventory[]> {
    return [vmm(this.works)];
  }
}

describe('the test of a host', () => {
  it('tries again what failed, answers what works, and has the heartbeat say so', async () => {
    const changed: string[] = [];
    const source = new HostInventorySource(
      { changed: (section: string) => changed.push(section) },
      new Logging(pino({ enabled: false })),
      [new StarvedOnce()],
    );
    await source.collect();
    expect(await source.test()).toEqual([vmm(true)]);
    expect((await source.collect()).vmms).toEqual([vmm(true)]);
    expect(changed.length).toBeGreaterThanOrEqual(2);
  });
});
