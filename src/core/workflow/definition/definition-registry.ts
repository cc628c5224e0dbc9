import { injectable } from 'inversify';
import type { AnyStep, WorkflowDefinition } from './definition';
import { parseDuration } from './duration';

export type AnyDefinition = WorkflowDefinition<unknown, never>;

/** Any definition, whatever its input and outputs are. */
export interface RegistrableDefinition {
  readonly type: string;
  readonly options: { readonly version: number; readonly continues?: readonly number[] };
  readonly steps: readonly AnyStep[];
}

const keyOf = (type: string, version: number): string => `${type}@${version}`;

const auditStep = (step: AnyStep): void => {
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(step.name)) throw new Error('its name is not in kebab-case');
  if (step.kind === 'wait') {
    parseDuration(step.spec.every);
    parseDuration(step.spec.timeout);
    return;
  }
  const { undo, noUndo } = step.spec;
  if (!undo && (noUndo === undefined || noUndo.trim() === ''))
    throw new Error('it has neither an undo nor a reason for none (noUndo)');
  if (undo && noUndo !== undefined) throw new Error('it has both an undo and a reason for none');
  if (step.kind !== 'tx' && step.spec.timeout) parseDuration(step.spec.timeout);
  if (step.kind === 'children') return;
  if (step.spec.retry?.backoff) parseDuration(step.spec.retry.backoff);
  if (step.spec.retry?.maxBackoff) parseDuration(step.spec.retry.maxBackoff);
};

/** All definitions that this process can run. Older versions stay until no live task has them. */
@injectable()
export class DefinitionRegistry {
  private readonly known = new Map<string, AnyDefinition>();

  /**
   * Audits and adds. Throws with the workflow's and the step's name when a step could not be undone or a name or
   * duration is wrong.
   */
  register(definition: AnyDefinition): void {
    const { type, options, steps } = definition;
    const key = keyOf(type, options.version);
    const keys = [key, ...(options.continues ?? []).map((version) => keyOf(type, version))];
    const fail = (reason: string, cause?: unknown): never => {
      throw new Error(`workflow ${key}: ${reason}`, { cause });
    };
    const present = keys.map((one) => this.known.get(one)).filter((one) => one !== undefined);
    if (present.length > 0 && present.every((one) => one === definition)) return;
    if (present.length > 0) fail('another definition has this type and version');
    if (!/^[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)+$/.test(type)) fail('its type is not of the form module.name-of-it');
    if (!Number.isInteger(options.version) || options.version < 1) fail('its version is no positive integer');
    if (steps.length === 0) fail('it has no step');
    if (options.preempts && !options.lock) fail('it preempts others but has no lock');
    if (options.whenLocked === 'wait' && !options.lock) fail('it waits for a lock but has none');
    for (const limit of [options.limit, options.limitPerProject])
      if (limit !== undefined && (!Number.isInteger(limit) || limit < 1)) fail('its limit is no positive integer');
    if (options.limit === undefined && steps.some((step) => step.kind === 'local'))
      fail('it has a local step and no limit: each of its tasks occupies a worker for as long as that takes');
    parseDuration(options.deadline);
    if (options.continues?.some((version) => !(version < options.version)))
      fail('it continues a version that is not older');
    for (const [seq, step] of steps.entries()) {
      if (step.kind === 'remote' && step.spec.together && steps[seq - 1]?.kind !== 'remote')
        fail(`step "${step.name}": there is no call before it that it could leave with`);
      try {
        auditStep(step);
      } catch (error) {
        fail(`step "${step.name}": ${error instanceof Error ? error.message : String(error)}`, error);
      }
    }
    for (const one of keys) this.known.set(one, definition);
  }

  get(type: string, version: number): AnyDefinition | undefined {
    return this.known.get(keyOf(type, version));
  }

  has(definition: AnyDefinition): boolean {
    return this.known.get(keyOf(definition.type, definition.options.version)) === definition;
  }

  /** `type@version` of each. */
  keys(): string[] {
    return [...this.known.keys()];
  }

  /** `type@version` of those that can't be cancelled once they have begun. */
  goingForward(): string[] {
    return [...this.known].flatMap(([key, definition]) => (definition.options.goesForward === undefined ? [] : [key]));
  }
}
