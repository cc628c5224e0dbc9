import * as fc from 'fast-check';
import { type ConditionFact, evaluate as evaluateBy, type ConditionStatus } from './host-state';

const required = ['Vmm', 'Storage'];
const evaluate = (facts: readonly ConditionFact[]) => evaluateBy(facts, required);
const conditionTypes = ['Enrolled', 'Heartbeat', 'Clock', ...required, 'Cgroup', 'Maintenance'];

const fact = (type: string, status: ConditionStatus, message = `${type} says`): ConditionFact => ({
  type,
  status,
  reason: 'R',
  message,
});
const well = [
  fact('Enrolled', 'true'),
  fact('Heartbeat', 'true'),
  fact('Vmm', 'true'),
  fact('Storage', 'true'),
  fact('Maintenance', 'false'),
  fact('Clock', 'true'),
  fact('Cgroup', 'true'),
];
const but = (...changes: ConditionFact[]): ConditionFact[] => [
  ...well.filter((w) => !changes.some((c) => c.type === w.type)),
  ...changes,
];

describe('evaluate', () => {
  it.each([
    ['nothing known', [], 'enrolling'],
    ['joined, never heard', [fact('Enrolled', 'true')], 'enrolling'],
    ['heard, not probed', [fact('Enrolled', 'true'), fact('Heartbeat', 'true')], 'testing'],
    ['all well', well, 'ready'],
    ['silent', but(fact('Heartbeat', 'unknown')), 'unknown'],
    ['silent in maintenance', but(fact('Heartbeat', 'unknown'), fact('Maintenance', 'true')), 'unknown'],
    ['in maintenance', but(fact('Maintenance', 'true')), 'maintenance'],
    ['broken in maintenance', but(fact('Maintenance', 'true'), fact('Vmm', 'false')), 'maintenance'],
    ['no VMM', but(fact('Vmm', 'false')), 'degraded'],
    ['no pool while VMMs are probed', but(fact('Vmm', 'unknown'), fact('Storage', 'false')), 'degraded'],
    ['VMMs being probed', but(fact('Vmm', 'unknown')), 'testing'],
    ['clock off', but(fact('Clock', 'false')), 'ready'],
    ['no limits', but(fact('Cgroup', 'false')), 'ready'],
  ])('%s', (_what, conditions, state) => {
    expect(evaluate(conditions).state).toBe(state);
  });

  it('waits for what a module requires, and for nothing else', () => {
    expect(evaluateBy(but(fact('Vmm', 'false')), ['Storage']).state).toBe('ready');
    expect(evaluateBy(well, ['Storage', 'Overlay'])).toMatchObject({ state: 'testing', reason: 'it is being tested' });
    expect(evaluateBy(but(fact('Vmm', 'false'), fact('Storage', 'false')), required).reason).toBe('Vmm says');
  });

  it('says why', () => {
    expect(evaluate(but(fact('Storage', 'false', 'it has no pool'))).reason).toBe('it has no pool');
    expect(evaluate(well).reason).toBe('');
  });

  it('places only on ready hosts and gives a reason for every other, in whatever order the conditions come', () => {
    const anyFacts = fc.uniqueArray(
      fc.record({
        type: fc.constantFrom(...conditionTypes),
        status: fc.constantFrom<ConditionStatus>('true', 'false', 'unknown'),
      }),
      { selector: (f) => f.type },
    );
    fc.assert(
      fc.property(anyFacts, (some) => {
        const facts = some.map(({ type, status }) => fact(type, status));
        const evaluated = evaluate(facts);
        expect(evaluated.schedulable).toBe(evaluated.state === 'ready');
        expect(evaluated.reason === '').toBe(evaluated.schedulable);
        expect(evaluate([...facts].reverse())).toEqual(evaluated);
      }),
    );
  });
});
