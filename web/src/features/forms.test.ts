import * as fc from 'fast-check';
import type { z } from 'zod';
import { createFlavor, createInstance } from '../../../src/modules/compute/contract/compute.api';
import { createImage } from '../../../src/modules/image/contract/image.api';
import { createNetwork } from '../../../src/modules/network/contract/network.api';
import type { Flavor, Image, Network } from '../lib/types';
import * as flavors from './flavors/flavor-form';
import * as images from './images/image-form';
import * as instances from './instances/create/create-form';
import { emptyDraft } from './instances/create/drafts';
import * as networks from './networks/network-form';

/** What somebody types: mostly the first, which is right, sometimes another, sometimes anything. */
const typed = (right: string, ...others: string[]): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constant(right) },
    { weight: 4, arbitrary: fc.constantFrom(right, ...others) },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 70 }) },
    { weight: 1, arbitrary: fc.integer({ min: -5, max: 2000 }).map(String) },
  );
const names = typed('web', 'n'.repeat(63), 'ü'.repeat(64), ' blank', '0f8b2c1e-0000-4000-8000-000000000000', '');
const vmms = typed('', 'qemu', 'Cloud Hypervisor', '-x');

/** What a form sends is what the contract takes; null is nothing sent. Both must come. */
const holds = <D>(draft: fc.Arbitrary<D>, schema: z.ZodType, bodyOf: (draft: D) => unknown): void => {
  let sent = 0;
  fc.assert(
    fc.property(draft, (d) => {
      const body = bodyOf(d);
      if (body === null) return;
      sent += 1;
      expect(schema.safeParse(body).error?.issues ?? []).toEqual([]);
    }),
    { numRuns: 600 },
  );
  expect(sent).toBeGreaterThan(20);
};

describe('what a form sends is what its contract takes, whatever was typed', () => {
  it('to create a flavor', () =>
    holds(
      fc.record({
        name: names,
        vcpus: typed('1', '1024', '1025'),
        memory: typed('512 MiB', '64 MiB', '63 MiB', '1.5 GiB', '100000001 B'),
        disk: typed('', '10 GiB', '1 MiB', '0.3 MiB', '9999999999 TiB'),
        vmm: vmms,
        diskIops: typed('', '10', '9', ' 500 '),
        diskRate: typed('', '100 MiB', '128 KiB', '127 KiB', '12 TiB'),
        nicRate: typed('', '125 MiB', '0.1'),
        burst: typed('', '1', '60', '61'),
        pageSize: fc.constantFrom('', '2MiB', '1GiB'),
        sharedMemory: fc.boolean(),
        cpuModel: typed('', 'EPYC-Rome', ' Nehalem', 'max,+svm', 'm'.repeat(64)),
        dedicatedCpus: fc.boolean(),
        numaNodes: typed('', '1', ' 2 ', '0', '17', '1.0', '0x1', '1e0'),
        description: typed('', 'd'.repeat(256)),
      }),
      createFlavor,
      flavors.bodyOf,
    ));

  it('to create a network', () =>
    holds(
      fc.record({
        name: names,
        subnet: typed('10.10.0.0/24', '10.10.0.0/29', '10.10.0.0/30', '10.10.0.1/24', ' 10.20.0.0/16 ', '10.0.0.0/08'),
        gateway: typed('', '10.10.0.1', '10.10.0.001', '::1'),
        dns: typed('', '1.1.1.1', '1.1.1.1, 9.9.9.9', '1.1.1.1 2.2.2.2 3.3.3.3 4.4.4.4'),
        nat: fc.boolean(),
      }),
      createNetwork,
      networks.bodyOf,
    ));

  it('to add an image', () =>
    holds(
      fc.record({
        source: fc.constantFrom('file' as const, 'url' as const),
        file: fc.constant({ size: 1, name: 'disk.img' } as File),
        url: typed(
          'https://example.org/a.img',
          'ftp://example.org/a',
          'example.org',
          `http://e.org/${'x'.repeat(2048)}`,
        ),
        name: names,
        checksum: typed(
          '',
          `sha256:${'0'.repeat(64)}`,
          'A'.repeat(64),
          `sha512:${'f'.repeat(128)}`,
          `md5:${'0'.repeat(32)}`,
        ),
        kernel: fc.constantFrom(null, { size: 1, name: 'vmlinuz' } as File),
        initramfs: fc.constantFrom(null, { size: 1, name: 'initrd' } as File),
        commandLine: typed('', 'root=/dev/vda1', 'x'.repeat(2048), 'ä', 'a\nb'),
        firmware: fc.constantFrom('any' as const, 'uefi' as const),
        vmm: vmms,
        open: fc.boolean(),
      }),
      createImage,
      (draft) => (Object.values(images.problemsOf(draft)).some((p) => p !== null) ? null : images.bodyOf(draft)),
    ));

  it('to create an instance', () => {
    const id = '0f8b2c1e-0000-4000-8000-000000000000';
    const offers: instances.Offers = {
      flavors: [{ id, name: 'small', vcpus: 1, memoryBytes: 2 ** 29, diskBytes: 0 } as Flavor],
      images: [{ id, name: 'debian', state: 'ready', virtualBytes: 2 ** 30 } as Image],
      networks: [
        {
          id,
          name: 'office',
          subnets: [{ cidr: '10.0.0.0/24' }],
          router: { snat: true },
        } as unknown as Network,
      ],
      keys: [],
      shares: [],
      hosts: [],
    };
    holds(
      fc.record({
        name: names,
        description: typed('', 'd'.repeat(256), 'two\nlines'),
        pasted: typed('', 'ssh-ed25519 AAAA', 'ssh-dss AAAA', '-----BEGIN OPENSSH PRIVATE KEY-----'),
        userData: typed('', '#cloud-config\n', 'ü'.repeat(32_769)),
        address: typed('', '10.0.0.7', '10.0.1.7', '10.0.0'),
        configDrive: fc.constantFrom('', 'nocloud', 'openstack'),
        grace: typed('30', '0', '601'),
        vmm: vmms,
      }),
      createInstance,
      ({ address, ...draft }) => {
        const whole = { ...emptyDraft, ...draft, networks: [{ id, address }] };
        return instances.bodyOf(whole, instances.choicesOf(whole, offers), offers);
      },
    );
  });
});
