import { Option, type Command } from 'commander';
import { oneOf } from '../../../core/cli/input/choice';
import { usageFailure } from '../../../core/cli/cli-failure';
import type { QueryOf } from '../../../rest/rest-call';
import type { Task } from '../contract/task.api';

type TaskState = Task['state'];

export interface FilterOptions {
  state?: string[];
  type?: string[];
  subject?: string;
  kind?: string;
  host?: string;
  parent?: string;
  since?: string;
  until?: string;
  endedSince?: string;
  endedUntil?: string;
  errors?: boolean;
  /** False with `--no-system`. */
  system: boolean;
  allProjects?: boolean;
}

const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];
const unitMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `15m`, `2h`, `7d` ago, or a time as RFC 3339. Exits with 2 on anything else. */
export const parseMoment = (value: string, option: string, now: number = Date.now()): string => {
  const ago = /^(\d{1,6})([smhd])$/.exec(value);
  const at = ago
    ? now - Number(ago[1]) * (unitMs[ago[2] ?? ''] ?? 0)
    : /^\d{4}-\d{2}-\d{2}/.test(value)
      ? Date.parse(value)
      : Number.NaN;
  if (Number.isNaN(at))
    throw usageFailure(`${option}: "${value}" is no time; write 15m, 2h, 7d, or a time such as 2026-01-31T12:00:00Z`);
  return new Date(at).toISOString();
};

const states: readonly (TaskState | 'live')[] = [
  'queued',
  'running',
  'compensating',
  'succeeded',
  'failed',
  'cancelled',
  'stuck',
  'live',
];

/** `running,stuck`, also several times. */
const collectStates = (value: string, before: string[] | undefined): string[] => [
  ...(before ?? []),
  ...value.split(',').map((state) => oneOf(state.trim(), states, '--state')),
];

/**
 * The option with its values for the shell's completion; several may be joined by commas, so the values alone do not
 * judge it.
 */
const stateOption = (): Option =>
  new Option(
    '--state <state,...>',
    'queued, running, compensating, succeeded, failed, cancelled, stuck, or live for all that are not over',
  )
    .choices(states)
    .argParser(collectStates);

/** The options that narrow a list of tasks. */
export const addFilters = (command: Command): Command =>
  command
    .addOption(stateOption())
    .option('--type <type,...>', 'e.g. instance.create, or all of a noun: instance.', collect)
    .option('--subject <name|id>', 'of one object')
    .option('--kind <kind>', 'of objects of one kind, e.g. instance')
    .option('--host <host>', 'with a step on this host')
    .option('--parent <task>', 'started by this task')
    .option('--since <time>', 'made since then: 15m, 2h, 7d, or RFC 3339')
    .option('--until <time>', 'made before then')
    .option('--ended-since <time>', 'ended since then')
    .option('--ended-until <time>', 'ended before then')
    .option('--errors', 'only what failed, is being undone after a failure, or is stuck')
    .option('--no-system', 'without what the system does by itself')
    .option('--all-projects', 'of all projects that you can see');

/** The query of `GET /tasks` that the options mean. */
export const filterQuery = (options: FilterOptions, project: string | undefined): QueryOf<'get', '/tasks'> => {
  const time = (value: string | undefined, option: string): string | undefined =>
    value === undefined ? undefined : parseMoment(value, option);
  return {
    project: options.allProjects ? undefined : project,
    state: options.state?.join(','),
    type: options.type?.join(','),
    subject: options.subject,
    subjectKind: options.kind,
    host: options.host,
    parent: options.parent,
    createdAfter: time(options.since, '--since'),
    createdBefore: time(options.until, '--until'),
    endedAfter: time(options.endedSince, '--ended-since'),
    endedBefore: time(options.endedUntil, '--ended-until'),
    errors: options.errors ? 'true' : undefined,
    system: options.system ? undefined : 'false',
  };
};
