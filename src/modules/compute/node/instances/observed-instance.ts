import type { ObservedInstance } from '../../contract/instance.verbs';
import { guestOf } from './guest-life';
import type { InstanceRecord } from './instance-record';
import type { LostInstance } from './lost-instance';

const exitOf = ({ exit, exitAt }: InstanceRecord): ObservedInstance['exit'] =>
  exit && exitAt !== null ? { reason: exit.reason, code: exit.code, signal: exit.signal, at: exitAt } : null;

/** What the host says of an instance to management. */
export const observedOf = (record: InstanceRecord): ObservedInstance => {
  const base = {
    instanceId: record.instanceId,
    generation: record.generation,
    revision: record.revision,
    exit: exitOf(record),
    guest: guestOf(record.guest, Date.now(), record.lost),
    dedicatedCpus: record.handle && record.cpus ? record.cpus.flatMap(({ cpus }) => cpus) : null,
  };
  if (record.handle) {
    const { driver: vmm, startedAt } = record.handle;
    return { ...base, state: record.paused ? 'paused' : 'running', reason: '', vmm, startedAt };
  }
  if (record.suspended)
    return { ...base, state: 'suspended', reason: '', vmm: record.suspended.driver, startedAt: null };
  const vmm = record.spec.vmm ?? '';
  if (record.exit?.cause === 'crashed')
    return { ...base, state: 'crashed', reason: record.exit.detail, vmm, startedAt: null };
  return { ...base, state: 'stopped', reason: record.exit?.cause ?? '', vmm, startedAt: null };
};

/** The same of one that this host has never had, or has no more. */
export const observedAbsent = (instanceId: string): ObservedInstance => ({
  instanceId,
  generation: 0,
  state: 'absent',
  reason: 'its host has no trace of it',
  vmm: '',
  startedAt: null,
  revision: 0,
  exit: null,
  guest: null,
  dedicatedCpus: null,
});

/** The same of one whose record cannot be read. */
export const observedLost = ({ instanceId }: LostInstance): ObservedInstance => ({
  instanceId,
  generation: 0,
  state: 'unknown',
  reason: 'its host cannot read its record of it',
  vmm: '',
  startedAt: null,
  revision: 0,
  exit: null,
  guest: null,
  dedicatedCpus: null,
});
