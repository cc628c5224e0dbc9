import type { Duplex } from 'node:stream';
import {
  NodeCaller,
  type CallInTurn,
  type CallOptions,
  type CallOutcome,
  type CallsInTurn,
} from '../../src/core/m2m/management/node-caller';
import { oneByOne } from './one-by-one';
import { type Verb } from '../../src/core/m2m/verbs/verb';

export interface FakeCall {
  hostId: string;
  verb: string;
  args: unknown;
  key: string;
  fence: number;
}

type Behaviour = (call: FakeCall) => Promise<CallOutcome<unknown>> | CallOutcome<unknown>;

/** A node that does what the test says: `on(verb, behaviour)`. Default: done at once with `{ made: name }`. */
export class FakeNodes extends NodeCaller {
  readonly calls: FakeCall[] = [];
  readonly polls: string[] = [];
  /** The keys of each request with several calls. */
  readonly requests: string[][] = [];
  inTurn = true;
  /** Outcomes of accepted calls by key: absent means still at work; an error is thrown. */
  readonly outcomes = new Map<string, unknown>();
  private readonly behaviours = new Map<string, Behaviour>();

  on(verb: string, behaviour: Behaviour): void {
    this.behaviours.set(verb, behaviour);
  }

  override async call<A, R>(hostId: string, verb: Verb<A, R>, args: A, options: CallOptions): Promise<CallOutcome<R>> {
    const call: FakeCall = { hostId, verb: verb.name, args, key: options.key ?? '', fence: options.fence ?? 0 };
    this.calls.push(call);
    const behaviour = this.behaviours.get(verb.name);
    const outcome = behaviour
      ? await behaviour(call)
      : { done: true as const, result: { made: (args as { name?: string }).name ?? '' } };
    return outcome as CallOutcome<R>;
  }

  override takesCallsInTurn(): boolean {
    return this.inTurn;
  }

  override callInTurn(
    hostId: string,
    calls: readonly CallInTurn[],
    options: Omit<CallOptions, 'key'>,
  ): Promise<CallsInTurn> {
    this.requests.push(calls.map(({ key }) => key));
    return oneByOne(this, hostId, calls, options);
  }

  override async outcome<A, R>(_hostId: string, _verb: Verb<A, R>, key: string): Promise<CallOutcome<R>> {
    this.polls.push(key);
    if (!this.outcomes.has(key)) return { done: false };
    const result = this.outcomes.get(key);
    if (result instanceof Error) throw result;
    return { done: true, result: result as R };
  }

  override stream(): Promise<Duplex> {
    return Promise.reject(new Error('not in this test'));
  }
}
