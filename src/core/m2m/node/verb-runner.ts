import { performance } from 'node:perf_hooks';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { VerbHandler } from '../verbs/verb-handler';
import { VerbFailure, type VerbHandlers } from '../verbs/verb-handler';
import type { AnyVerb } from '../verbs/verb';
import { taskOfKey, type VerbError, type VerbJournal, type VerbResult } from './verb-journal';

export const verbCall = z.object({
  key: z.string().min(1).max(300).optional(),
  fence: z.number().int().nonnegative().optional(),
  requestId: z.string().max(200).optional(),
  /** In which the arguments are written; absent from management of before revisions. */
  revision: z.number().int().min(1).optional(),
  args: z.unknown(),
});
export type VerbCall = z.infer<typeof verbCall>;

/** Calls of one request, each begun once the one before is done. */
export const verbCalls = z.object({
  calls: z
    .array(verbCall.extend({ verb: z.string().min(1).max(100) }))
    .min(1)
    .max(16),
});
export type VerbCalls = z.infer<typeof verbCalls>;

export type VerbAnswer =
  | { kind: 'done'; result: unknown }
  | { kind: 'accepted' }
  | { kind: 'failed'; error: VerbError };

/** Takes what long verbs report. */
export interface EngineVerbEvents {
  done(key: string): void;
  progress(key: string, percent: number, message: string): void;
}

/** Asks management about tasks: the present fence of each that is not over. Rejects when it cannot be asked. */
type AskLiveTasks = (tasks: readonly string[]) => Promise<ReadonlyMap<string, number>>;

export interface VerbRunnerOptions {
  acceptAfterMs: number;
  liveTasks: AskLiveTasks;
  /** Calls at work at most; more are refused as transient. Default 500. */
  maxRunning?: number;
}

interface Running {
  verb: string;
  answer: Promise<VerbAnswer>;
  /** Somebody was told "accepted", so the end is reported. */
  accepted: boolean;
}

const failed = (
  code: string,
  message: string,
  permanent: boolean,
  extra: Record<string, unknown> = {},
): VerbAnswer => ({ kind: 'failed', error: { code, message, permanent, extra } });
/** A failure that a repeat may mend is kept only for whoever asks for the outcome of an accepted call. */
const keptFailures = 1_000;

/**
 * Runs verbs for management. A mutating call has a key and a fence: a repeated key is answered with the first result,
 * also after a restart; a call from a worker that has lost its task (lower fence), and one whose undo was asked for
 * already, are refused. Transient failures are not remembered as results: a repeat runs again.
 */
export class VerbRunner {
  private readonly handlers = new Map<string, VerbHandler>();
  private readonly running = new Map<string, Running>();
  private readonly lastFailures = new Map<string, VerbError>();
  private readonly stopping = new AbortController();
  private active = 0;

  constructor(
    private readonly journal: VerbJournal,
    private readonly reports: EngineVerbEvents,
    private readonly log: Logger,
    private readonly options: VerbRunnerOptions,
  ) {}

  /** Throws when a verb has two handlers, or when one of `contract` has none. */
  register(handlers: VerbHandlers[], contract?: readonly AnyVerb[]): void {
    for (const handler of handlers.flatMap((h) => h.handlers())) {
      if (this.handlers.has(handler.verb.name)) throw new Error(`the verb "${handler.verb.name}" has two handlers`);
      this.handlers.set(handler.verb.name, handler);
    }
    if (!contract) return;
    const declared = new Set(contract.map((verb) => verb.name));
    const extra = [...this.handlers.keys()].filter((name) => !declared.has(name));
    if (extra.length > 0) throw new Error(`no module declares the verb ${extra.map((name) => `"${name}"`).join(', ')}`);
    const missing = contract.filter((verb) => !this.handlers.has(verb.name)).map((verb) => verb.name);
    if (missing.length > 0) throw new Error(`no handler for ${missing.map((name) => `"${name}"`).join(', ')}`);
  }

  /** The newest revision of each verb that this node understands. */
  revisions(): Record<string, number> {
    return Object.fromEntries([...this.handlers.values()].map(({ verb }) => [verb.name, verb.revision]));
  }

  async call(name: string, call: VerbCall): Promise<VerbAnswer> {
    const handler = this.handlers.get(name);
    if (!handler) return failed('unknown_verb', `This host does not know the verb "${name.slice(0, 100)}".`, true);
    const { verb } = handler;
    // Management took this agent for a newer one, as after a step back: it looks again and writes what is known here.
    if (call.revision !== undefined && call.revision > verb.revision)
      return failed(
        'newer_revision',
        `This host knows ${name} up to revision ${verb.revision}, and was sent revision ${call.revision}.`,
        false,
      );
    const args = verb.args.safeParse(call.args);
    if (!args.success) {
      const errors = args.error.issues
        .slice(0, 20)
        .map((issue) => ({ path: issue.path.join('.'), message: issue.message }));
      return failed(
        'invalid_args',
        `The arguments of ${name} are not valid: ${errors.map((e) => `${e.path}: ${e.message}`).join('; ')}`,
        true,
        { errors },
      );
    }
    if (this.stopping.signal.aborted) return failed('stopping', 'The agent is stopping.', false);
    if (!verb.mutating) return this.read(handler, args.data, call);
    const { key, fence } = call;
    if (key === undefined || fence === undefined)
      return failed('key_required', `${name} changes the host and needs a key and a fence.`, true);
    return this.mutate(handler, args.data, { ...call, key, fence });
  }

  /** The first call that is not done at once ends the list; those after it are not begun. `ms`: what each took. */
  async callInTurn({ calls }: VerbCalls): Promise<(VerbAnswer & { ms: number })[]> {
    const answers: (VerbAnswer & { ms: number })[] = [];
    for (const { verb, ...call } of calls) {
      const since = performance.now();
      const answer = await this.call(verb, call);
      answers.push({ ...answer, ms: performance.now() - since });
      if (answer.kind !== 'done') break;
    }
    return answers;
  }

  /**
   * The outcome of an earlier call by its key; `unknown_key` when it never came or did not survive a restart of the
   * agent: call again.
   */
  outcome(key: string): VerbAnswer {
    if (this.running.has(key)) {
      const running = this.running.get(key);
      if (running) running.accepted = true;
      return { kind: 'accepted' };
    }
    const stored = this.journal.result(key);
    if (stored) return answerOf(stored);
    const error = this.lastFailures.get(key);
    return error ? { kind: 'failed', error } : failed('unknown_key', 'This host knows no call under this key.', false);
  }

  /**
   * Tells handlers to end and waits for them, at most `timeoutMs`. What did not end is repeated by management after the
   * restart.
   */
  async stop(timeoutMs: number): Promise<void> {
    this.stopping.abort();
    const all = Promise.allSettled([...this.running.values()].map((r) => r.answer));
    await race(all, timeoutMs);
  }

  private async read(handler: VerbHandler, args: unknown, call: VerbCall): Promise<VerbAnswer> {
    if (this.active >= this.limit()) return busy();
    this.active += 1;
    try {
      return { kind: 'done', result: await this.invoke(handler, args, call) };
    } catch (error) {
      return { kind: 'failed', error: this.errorOf(handler.verb.name, error) };
    } finally {
      this.active -= 1;
    }
  }

  private async mutate(
    handler: VerbHandler,
    args: unknown,
    call: VerbCall & { key: string; fence: number },
  ): Promise<VerbAnswer> {
    const { key, fence } = call;
    const name = handler.verb.name;
    const refusal = (await this.verify(key, fence)) ?? (await this.admit(key, fence));
    if (refusal) return refusal;
    // A result is seen before it is on the disk; until then the call counts as running.
    let running = this.running.get(key);
    if (running && running.verb !== name) return failed('key_reused', `The key is in use for ${running.verb}.`, true);
    const stored = running ? undefined : this.journal.result(key);
    if (stored)
      return stored.verb === name
        ? answerOf(stored)
        : failed('key_reused', `The key was used for ${stored.verb}.`, true);
    if (!running) {
      if (this.active >= this.limit()) return busy();
      if (!this.journal.hasRoom)
        return failed(
          'journal_full',
          'The host waits for management to confirm earlier results and takes no new calls.',
          false,
        );
      running = this.launch(handler, args, call);
    } else if (!handler.verb.long) {
      return this.join(running, Math.min(handler.verb.timeoutMs, this.options.acceptAfterMs));
    }
    return handler.verb.long ? this.join(running, this.options.acceptAfterMs) : running.answer;
  }

  /** A task that may have been here and is forgotten: only management knows whether the call is late. */
  private async verify(key: string, fence: number): Promise<VerbAnswer | undefined> {
    const task = taskOfKey(key);
    if (!this.journal.mustBeVerified(task)) return undefined;
    let present: number | undefined;
    try {
      present = (await this.options.liveTasks([task])).get(task);
    } catch (error) {
      return failed('not_verified', `The host could not ask management about an old task: ${textOf(error)}`, false);
    }
    if (present === undefined) return failed('stale_fence', 'The task is over.', true, { fence });
    return fence < present ? tooLow(fence, present) : undefined;
  }

  /** Compares fences and remembers what is new, before anything is done. */
  private async admit(key: string, fence: number): Promise<VerbAnswer | undefined> {
    const [task = key, step = '', phase = ''] = key.split('/');
    const late = (): VerbAnswer | undefined => {
      const seen = this.journal.fence(task);
      if (seen !== undefined && fence < seen) return tooLow(fence, seen);
      return phase === 'run' && this.journal.isUndone(task, step)
        ? failed('undone', 'The undo of this step was asked for already.', true)
        : undefined;
    };
    const before = late();
    if (before) return before;
    try {
      if (phase === 'undo' && !this.journal.isUndone(task, step)) await this.journal.recordUndone(task, fence, step);
      else if (fence !== this.journal.fence(task)) await this.journal.recordFence(task, fence);
    } catch (error) {
      return {
        kind: 'failed',
        error: {
          code: 'journal_failed',
          message: 'The host cannot write its journal.',
          permanent: false,
          extra: {},
          detail: textOf(error),
        },
      };
    }
    // Another call of the task may have come in meanwhile.
    return late();
  }

  private async join(running: Running, waitMs: number): Promise<VerbAnswer> {
    const answer = await race(running.answer, waitMs);
    if (answer) return answer;
    running.accepted = true;
    return { kind: 'accepted' };
  }

  private launch(handler: VerbHandler, args: unknown, call: VerbCall & { key: string }): Running {
    const { key } = call;
    const running: Running = { verb: handler.verb.name, accepted: false, answer: this.execute(handler, args, call) };
    this.active += 1;
    this.lastFailures.delete(key);
    this.running.set(key, running);
    void running.answer.then((answer) => {
      this.active -= 1;
      this.running.delete(key);
      if (answer.kind === 'failed' && !answer.error.permanent) this.rememberFailure(key, answer.error);
      if (running.accepted) this.reports.done(key);
    });
    return running;
  }

  /** Never rejects. */
  private async execute(handler: VerbHandler, args: unknown, call: VerbCall & { key: string }): Promise<VerbAnswer> {
    const verb = handler.verb.name;
    const started = performance.now();
    let outcome: VerbResult;
    try {
      outcome = { verb, ok: true, result: await this.invoke(handler, args, call) };
    } catch (error) {
      outcome = { verb, ok: false, error: this.errorOf(verb, error) };
    }
    this.log.debug(
      { verb, key: call.key, requestId: call.requestId, ms: Math.round(performance.now() - started), ok: outcome.ok },
      'verb',
    );
    if (outcome.ok || outcome.error.permanent) {
      try {
        await this.journal.recordResult(call.key, outcome);
      } catch (error) {
        this.log.error({ verb, key: call.key, err: error }, 'a result could not be journalled');
        return failed('journal_failed', `The host cannot write its journal: ${textOf(error)}`, false);
      }
    }
    return answerOf(outcome);
  }

  private async invoke(handler: VerbHandler, args: unknown, call: VerbCall): Promise<unknown> {
    const { key, fence, requestId } = call;
    const { log } = this;
    let own: Logger | undefined;
    const result = await handler.run(args, {
      key,
      fence,
      requestId,
      // Most verbs write nothing.
      get log() {
        return (own ??= log.child({ verb: handler.verb.name, key, requestId }));
      },
      progress: (percent, message) => {
        if (key !== undefined) this.reports.progress(key, Math.max(0, Math.min(100, percent)), message ?? '');
      },
      signal: this.stopping.signal,
    });
    return result ?? {};
  }

  private errorOf(verb: string, error: unknown): VerbError {
    if (error instanceof VerbFailure)
      return {
        code: error.code,
        message: error.message,
        permanent: error.permanent,
        extra: error.extra,
        ...(error.detail !== undefined && { detail: error.detail }),
      };
    this.log.error({ verb, err: error }, 'a verb failed unexpectedly');
    return {
      code: 'internal',
      message: "The host could not do this; its agent's log has the details.",
      permanent: false,
      extra: {},
      detail: textOf(error),
    };
  }

  private rememberFailure(key: string, error: VerbError): void {
    this.lastFailures.set(key, error);
    for (const old of this.lastFailures.keys()) {
      if (this.lastFailures.size <= keptFailures) break;
      this.lastFailures.delete(old);
    }
  }

  private limit(): number {
    return this.options.maxRunning ?? 500;
  }
}

const tooLow = (fence: number, seen: number): VerbAnswer =>
  failed('stale_fence', `The task has moved on: fence ${fence} is below ${seen}.`, true, { fence, seen });
const busy = (): VerbAnswer => failed('busy', 'The host has too many calls at work.', false);
const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 2000);
const answerOf = (stored: VerbResult): VerbAnswer =>
  stored.ok ? { kind: 'done', result: stored.result } : { kind: 'failed', error: stored.error };

const race = async <T>(promise: Promise<T>, ms: number): Promise<T | undefined> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
};
