import { neededRevision } from '../../../core/m2m/verbs/revisions';
import { createFlavor } from './compute.api';
import { askedOfHardware, hardwareInput, hardwareOf, shownOfHardware } from './hardware';
import { instanceEnsure } from './instance.verbs';
import { capabilitiesFor } from './machine-options';

const size = { name: 'small', vcpus: 1, memoryBytes: 2 ** 30 };
const nothing = { pageSize: null, sharedMemory: false, cpuModel: null };

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

it('needs what a VMM can do', () => {
  const hardware = { pageSize: '1GiB', sharedMemory: true, cpuModel: 'EPYC-v1' } as const;
  expect(capabilitiesFor({ hardware })).toEqual(['huge-pages', 'shared-memory', 'cpu-models']);
  expect(capabilitiesFor({ hardware: {} })).toEqual([]);
});
