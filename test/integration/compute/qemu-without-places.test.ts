import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attachQemuNic, detachQemuNic, qemuNics } from '../../../src/modules/compute/node/drivers/qemu/qemu-nics';
import { QmpClient } from '../../../src/modules/compute/node/drivers/qemu/qmp-client';
import { eventually } from '../../support/eventually';

jest.setTimeout(60_000);

/** As builds started machines before there were places for cards: the card is on the root bus. */
describe('a machine of QEMU that was started without root ports', () => {
  const card = randomUUID();
  let directory: string;
  let vmm: ChildProcess;
  let qmp: QmpClient;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'vc-places-'));
    const socket = join(directory, 'qmp');
    const machine = ['-S', '-nodefaults', '-display', 'none', '-machine', 'q35,accel=tcg', '-m', '64'];
    const nic = [
      '-netdev',
      `hubport,id=net-${card},hubid=0`,
      '-device',
      `virtio-net-pci,id=n-${card},netdev=net-${card},romfile=`,
    ];
    vmm = spawn('qemu-system-x86_64', [...machine, ...nic, '-qmp', `unix:${socket},server=on,wait=off`], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    await eventually('its monitor', async () => existsSync(socket));
    qmp = await QmpClient.connect(socket, 0, 20_000);
  });
  afterAll(async () => {
    qmp?.close();
    const ended = new Promise((done) => vmm?.once('exit', done));
    vmm?.kill('SIGKILL');
    await ended;
    rmSync(directory, { recursive: true, force: true });
  });

  const netdevs = async (): Promise<string[]> =>
    (await qmp.execute<{ name: string }[]>('qom-list', { path: '/objects' })).map(({ name }) => name);

  it('takes no card more, says that a restart helps, and has nothing of it', async () => {
    const more = { id: randomUUID(), tap: 'none', mac: '52:54:00:00:00:09', mtu: 1500 };
    const before = await netdevs();
    await expect(attachQemuNic(qmp, more)).rejects.toMatchObject({ code: 'no_hotplug', permanent: true });
    expect(await qemuNics(qmp)).toEqual([card]);
    expect(await netdevs()).toEqual(before);
  });

  it('lets no card go, and says the same at once instead of waiting for its guest', async () => {
    const began = Date.now();
    await expect(detachQemuNic(qmp, card, 30_000, new AbortController().signal)).rejects.toMatchObject({
      code: 'no_hotplug',
      permanent: true,
    });
    expect(Date.now() - began).toBeLessThan(15_000);
    expect(await qemuNics(qmp)).toEqual([card]);
  });

  it('is content with a card that it has already, and with one that is gone', async () => {
    await attachQemuNic(qmp, { id: card, tap: 'none', mac: '52:54:00:00:00:09', mtu: 1500 });
    await detachQemuNic(qmp, randomUUID(), 1000, new AbortController().signal);
    expect(await qemuNics(qmp)).toEqual([card]);
  });
});
