import type { AnyStep } from '../../src/core/workflow/definition/definition';

/** What is done to the cloud at a boundary. */
export const faults = [
  'kill',
  'kill-again',
  'freeze',
  'kill-agent',
  'drop-answer',
  'cut-database',
  'restart-database',
] as const;
export type Fault = (typeof faults)[number];

export const faultTitles: Record<Fault, string> = {
  kill: 'SIGKILL the worker',
  'kill-again': 'SIGKILL the worker, and the next one at its first boundary',
  freeze: 'SIGSTOP the worker beyond its lease, thaw it after another has finished',
  'kill-agent': "SIGKILL the host's agent",
  'drop-answer': "lose the host's answer after the effect",
  'cut-database': 'cut every connection to the database',
  'restart-database': 'crash and restart PostgreSQL',
};

/** A registered definition as a worker reports it. */
export interface WorkflowShape {
  type: string;
  version: number;
  steps: { name: string; kind: AnyStep['kind']; undo: boolean }[];
}

const points = ['before-effect', 'after-effect', 'after-checkpoint'] as const;
export type Point = (typeof points)[number];
export type Phase = 'run' | 'undo';

interface Boundary {
  type: string;
  step: string;
  kind: AnyStep['kind'];
  phase: Phase;
  point: Point;
  /** The worker stands inside a transaction there and may hold locks that others wait for. */
  locks: boolean;
}

export interface Case {
  name: string;
  fault: Fault;
  boundary: Boundary;
}

const holdsLocks = (kind: Boundary['kind'], phase: Phase, point: Point): boolean => {
  if (kind === 'remote' || kind === 'local' || point === 'after-checkpoint') return false;
  return point === 'after-effect' || (phase === 'run' && kind !== 'wait');
};

/** Every boundary that a run of the workflow passes: forward, and backward when its last step fails. */
const boundariesOf = ({ type, steps }: WorkflowShape): Boundary[] => {
  const of = (step: WorkflowShape['steps'][number], phase: Phase): Boundary[] =>
    points.map((point) => ({
      type,
      step: step.name,
      kind: step.kind,
      phase,
      point,
      locks: holdsLocks(step.kind, phase, point),
    }));
  return [
    ...steps.flatMap((step) => of(step, 'run')),
    ...steps
      .filter((step) => step.undo)
      .reverse()
      .flatMap((step) => of(step, 'undo')),
  ];
};

/** An answer is lost in one place only: between the effect and the checkpoint of a call. */
const applies = (fault: Fault, boundary: Boundary): boolean =>
  fault !== 'drop-answer' || (boundary.kind === 'remote' && boundary.point === 'after-effect');

const nameOf = (fault: Fault, { type, phase, step, point }: Boundary): string =>
  `${fault} ${type} ${phase}/${step}/${point}`;

export interface Plan {
  cases: Case[];
  /** Left for `--long`: how many of each fault and workflow. */
  left: { fault: Fault; type: string; count: number }[];
}

/**
 * All cases, or with `long` false: SIGKILL at every boundary, and each other fault once for every kind of step, in each
 * direction, of every workflow. Which one is a matter of counting, so that the choice is spread over steps and points
 * and the same in every run.
 */
export const planOf = (workflows: readonly WorkflowShape[], long: boolean): Plan => {
  const cases: Case[] = [];
  const left = new Map<string, { fault: Fault; type: string; count: number }>();
  workflows.forEach((workflow, nth) => {
    const boundaries = boundariesOf(workflow);
    faults.forEach((fault, ordinal) => {
      const suited = boundaries.filter((boundary) => applies(fault, boundary));
      const kinds = [...new Set(suited.map((b) => `${b.kind}/${b.phase}`))];
      const sample = new Set(
        kinds.map((kind, k) => {
          const group = suited.filter((b) => `${b.kind}/${b.phase}` === kind);
          return group[(ordinal * 4 + nth + k) % group.length];
        }),
      );
      for (const boundary of suited) {
        if (long || fault === 'kill' || sample.has(boundary)) {
          cases.push({ name: nameOf(fault, boundary), fault, boundary });
          continue;
        }
        const key = `${fault} ${workflow.type}`;
        const entry = left.get(key) ?? { fault, type: workflow.type, count: 0 };
        entry.count += 1;
        left.set(key, entry);
      }
    });
  });
  return { cases, left: [...left.values()] };
};

/**
 * Cases that one fault serves together: each has a task of its own at its own boundary, and at most one of them stands
 * inside a transaction.
 */
export const groupsOf = (cases: readonly Case[], size: number): Case[][] => {
  const groups: Case[][] = [];
  for (const fault of faults) {
    const locking = cases.filter((c) => c.fault === fault && c.boundary.locks);
    const free = cases.filter((c) => c.fault === fault && !c.boundary.locks);
    while (locking.length + free.length > 0) {
      const first = locking.splice(0, 1);
      groups.push([...free.splice(0, size - first.length), ...first]);
    }
  }
  return groups;
};
