import { neededRevision } from '../../../core/m2m/verbs/revisions';
import { instanceEnsure } from './instance.verbs';
import { askedOfMachine, capabilitiesFor, machineInput, shownOfMachine, withoutPolicies } from './machine-options';

describe('options of the machine', () => {
  it('are what is on, and are shown all', () => {
    const asked = askedOfMachine(machineInput.parse({ tpm: true, watchdog: 'stop' }));
    expect(asked).toEqual({ tpm: true, watchdog: 'stop' });
    expect(shownOfMachine(asked)).toEqual({
      secureBoot: false,
      tpm: true,
      balloon: false,
      vsock: false,
      watchdog: 'stop',
      panic: null,
    });
    expect(askedOfMachine(machineInput.parse(undefined))).toEqual({});
    expect(machineInput.safeParse({ watchdog: 'explode' }).error?.issues[0]?.path).toEqual(['watchdog']);
  });

  it('need what a VMM can do', () => {
    expect(capabilitiesFor({ machine: { secureBoot: true, watchdog: 'restart', panic: 'notify' } })).toEqual([
      'secure-boot',
      'watchdog-restart',
      'panic-policy',
    ]);
    expect(capabilitiesFor({ machine: withoutPolicies({ tpm: true, watchdog: 'restart', panic: 'stop' }) })).toEqual([
      'tpm',
    ]);
  });

  it('have a vsock only where the agent knows of it', () => {
    const needed = (machine: object): number => neededRevision(instanceEnsure, { spec: { vmm: null, machine } });
    expect(needed({ vsock: true })).toBeGreaterThan(needed({ balloon: true }));
  });

  it('have a balloon only where the agent knows of it', () => {
    const needed = (machine: object): number => neededRevision(instanceEnsure, { spec: { vmm: null, machine } });
    expect(needed({ balloon: true })).toBeGreaterThan(needed({ watchdog: 'stop' }));
  });

  it.each(['watchdog', 'panic'])('are not asked of an agent that would pass over a %s', (option) => {
    const needed = (machine: object): number => neededRevision(instanceEnsure, { spec: { vmm: null, machine } });
    expect(needed({ [option]: 'stop' })).toBeGreaterThan(needed({ tpm: true }));
  });
});
