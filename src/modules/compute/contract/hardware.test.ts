import { neededRevision } from '../../../core/m2m/verbs/revisions';
import { createFlavor } from './compute.api';
import { askedOfHardware, fixedMaximum, hardwareInput, hardwareOf, dedicatedCpusOf, shownOfHardware } from './hardware';
import { instanceEnsure } from './instance.verbs';
import { capabilitiesFor } from './machine-options';

const size = { name: 'small', vcpus: 1, memoryBytes: 2 ** 30 };
const nothing = { pageSize: null, sharedMemory: false, cpuModel: null, cpuPolicy: 'shared', numaNodes: null };

describe('hardware of a flavor', () => {
  it('is as the host makes it unless it is asked for, and only what is asked for is on record', () => {
    expect(createFlavor.parse(size).hardware).toEqual(nothing);
    expect(askedOfHardware(hardwareInput.parse(undefined))).toEqual({});
    const asked = askedOfHardware(hardwareInput.parse({ pageSize: '2MiB', sharedMemory: true }));
    expect(asked).toEqual({ pageSize: '2MiB', sharedMemory: true });
    expect(shownOfHardware(asked)).toEqual({ ...nothing, ...asked });
    expect(shownOfHardware({})).toEqual(nothing);
  });

  it.each([
    [{ pageSize: '4KiB' }, 'hardware.pageSize'],
    [{ pageSize: 2_097_152 }, 'hardware.pageSize'],
    [{ sharedMemory: 'yes' }, 'hardware.sharedMemory'],
    [{ cpuModel: '' }, 'hardware.cpuModel'],
    [{ cpuModel: 'EPYC,+svm' }, 'hardware.cpuModel'],
    [{ cpuModel: 'EPYC -monitor stdio' }, 'hardware.cpuModel'],
    [{ cpuModel: '-EPYC' }, 'hardware.cpuModel'],
    [{ cpuModel: 'a'.repeat(64) }, 'hardware.cpuModel'],
    [{ hyperthreads: 2 }, 'hardware'],
    [{ cpuPolicy: 'pinned' }, 'hardware.cpuPolicy'],
    [{ numaNodes: 2 }, 'hardware.numaNodes'],
    [{ cpuPolicy: 'shared', numaNodes: 1 }, 'hardware.numaNodes'],
    [{ cpuPolicy: 'dedicated', numaNodes: 0 }, 'hardware.numaNodes'],
    [{ cpuPolicy: 'dedicated', numaNodes: 1, pageSize: '2MiB' }, 'hardware.numaNodes'],
  ])('refuses %j by name', (hardware, path) => {
    const { error } = createFlavor.safeParse({ ...size, hardware });
    expect(error?.issues.map((issue) => issue.path.join('.'))).toEqual([path]);
  });
});

it('is said only where something is asked for, and then no agent of before is asked', () => {
  expect(hardwareOf({})).toEqual({});
  expect(hardwareOf({ hardware: {} })).toEqual({});
  const hardware = { sharedMemory: true as const };
  expect(hardwareOf({ hardware })).toEqual({ hardware });
  expect(neededRevision(instanceEnsure, { spec: { ...hardwareOf({ hardware: {} }) } })).toBe(1);
  expect(neededRevision(instanceEnsure, { spec: { ...hardwareOf({ hardware }) } })).toBe(10);
});

it('says which CPUs an instance has for itself, and no agent of before is asked', () => {
  const size = { vcpus: 4, memoryBytes: 2 ** 30 };
  expect(dedicatedCpusOf(size)).toBeNull();
  const asked = askedOfHardware(hardwareInput.parse({ cpuPolicy: 'dedicated', numaNodes: 2 }));
  expect(asked).toEqual({ cpuPolicy: 'dedicated', numaNodes: 2 });
  expect(dedicatedCpusOf({ ...size, hardware: asked })).toEqual({ count: 4, numaNodes: 2, memoryBytes: 2 ** 30 });
  const dedicatedCpus = [{ node: 0, cpus: 4, memoryBytes: 0 }];
  expect(neededRevision(instanceEnsure, { spec: { hardware: asked, dedicatedCpus } })).toBe(12);
  expect(capabilitiesFor({ hardware: asked })).toEqual(['dedicated-cpus', 'numa-nodes']);
});

it('has no maximum of what is its own', () => {
  const none = { maxVcpus: null, maxMemoryBytes: null };
  const own = { cpuPolicy: 'dedicated' } as const;
  expect(fixedMaximum({ ...none, maxVcpus: 4 }, {})).toBeUndefined();
  expect(fixedMaximum({ ...none, maxVcpus: 4 }, own)?.field).toBe('maxVcpus');
  expect(fixedMaximum({ ...none, maxMemoryBytes: 2 ** 30 }, own)).toBeUndefined();
  expect(fixedMaximum({ ...none, maxMemoryBytes: 2 ** 30 }, { ...own, numaNodes: 1 })?.field).toBe('maxMemoryBytes');
});

it('needs what a VMM can do', () => {
  const hardware = { pageSize: '1GiB', sharedMemory: true, cpuModel: 'EPYC-v1' } as const;
  expect(capabilitiesFor({ hardware })).toEqual(['huge-pages', 'shared-memory', 'cpu-models']);
  expect(capabilitiesFor({ hardware: {} })).toEqual([]);
});
