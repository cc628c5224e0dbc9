import { z } from 'zod';
import type { Duplex } from 'node:stream';
import type { Database } from '../../src/core/db/database';
import {
  NodeCaller,
  type CallInTurn,
  type CallOptions,
  type CallOutcome,
  type CallsInTurn,
} from '../../src/core/m2m/management/node-caller';
import { oneByOne } from './one-by-one';
import type { Verb } from '../../src/core/m2m/verbs/verb';
import { defineWorkflow } from '../../src/core/workflow/definition/definition';
import { PermanentError } from '../../src/core/workflow/definition/workflow-error';
import { dropThing, hostA, makeThing } from './workflow-harness';

/**
 * Tables of the fake node: what it made, and its journal of answers by key. Both outlive the workers that are killed.
 */
export const createNodeTables = async (database: Database): Promise<void> => {
  await database.query(
    'CREATE TABLE IF NOT EXISTS node_thing (task_id text NOT NULL, name text NOT NULL, PRIMARY KEY (task_id, name))',
  );
  await database.query('CREATE TABLE IF NOT EXISTS node_journal (key text PRIMARY KEY, result jsonb NOT NULL)');
  await database.query('CREATE TABLE IF NOT EXISTS node_fence (task_id text PRIMARY KEY, fence bigint NOT NULL)');
  await database.query('CREATE TABLE IF NOT EXISTS done (task_id uuid NOT NULL, what text NOT NULL)');
};

/** A node whose memory is the database: answers a repeated key from its journal and refuses a lower fence. */
export class DurableNode extends NodeCaller {
  constructor(private readonly database: Database) {
    super();
  }

  override async call<A, R>(_hostId: string, verb: Verb<A, R>, args: A, options: CallOptions): Promise<CallOutcome<R>> {
    const key = options.key ?? '';
    const taskId = key.split('/')[0] ?? '';
    const { name } = args as { name: string };
    return this.database.tx(async (op) => {
      const fences = await this.database.query<{ fence: string }>(
        `INSERT INTO node_fence (task_id, fence) VALUES ($1, $2) ON CONFLICT (task_id) DO UPDATE SET fence = GREATEST(node_fence.fence, excluded.fence) RETURNING fence`,
        [taskId, options.fence],
        op,
      );
      if (Number(fences[0]?.fence) > (options.fence ?? 0))
        throw new PermanentError('stale_fence', 'a later worker has this task');
      const known = await this.database.query<{ result: R }>(
        'SELECT result FROM node_journal WHERE key = $1',
        [key],
        op,
      );
      if (known[0]) return { done: true, result: known[0].result };
      if (verb.name === makeThing.name)
        await this.database.query('INSERT INTO node_thing (task_id, name) VALUES ($1, $2)', [taskId, name], op);
      else await this.database.query('DELETE FROM node_thing WHERE task_id = $1 AND name = $2', [taskId, name], op);
      const result = verb.name === makeThing.name ? { made: name } : {};
      await this.database.query(
        'INSERT INTO node_journal (key, result) VALUES ($1, $2)',
        [key, JSON.stringify(result)],
        op,
      );
      return { done: true, result: result as R };
    });
  }

  override takesCallsInTurn(): boolean {
    return true;
  }

  override callInTurn(
    hostId: string,
    calls: readonly CallInTurn[],
    options: Omit<CallOptions, 'key'>,
  ): Promise<CallsInTurn> {
    return oneByOne(this, hostId, calls, options);
  }

  override async outcome<R>(): Promise<CallOutcome<R>> {
    return { done: false };
  }

  override stream(): Promise<Duplex> {
    return Promise.reject(new Error('not in this test'));
  }
}

/** Every kind of step that acts, each leaving one trace. With `fail` the last step fails for good, so that all is undone. */
export const chaosWorkflow = (database: Database) =>
  defineWorkflow('test.chaos', {
    version: 1,
    input: z.object({ fail: z.boolean() }),
    deadline: '2m',
    lock: () => ['chaos/one', 'chaos/two'],
    limit: 4,
  })
    .tx('claim', {
      run: async (c) => {
        await database.query('INSERT INTO done (task_id, what) VALUES ($1, $2)', [c.taskId, 'claim'], c.op);
        return 'claimed';
      },
      undo: async (c) =>
        void (await database.query('DELETE FROM done WHERE task_id = $1 AND what = $2', [c.taskId, 'claim'], c.op)),
    })
    .remote('make', {
      verb: makeThing,
      node: () => hostA,
      args: (c) => ({ name: c.out.claim }),
      undo: { verb: dropThing, node: () => hostA, args: () => ({ name: 'claimed' }) },
    })
    .remote('make-more', {
      verb: makeThing,
      node: () => hostA,
      args: (c) => ({ name: `${c.out.make.made}-more` }),
      undo: { verb: dropThing, node: () => hostA, args: () => ({ name: 'claimed-more' }) },
    })
    .remote(
      'make-another',
      {
        verb: makeThing,
        node: () => hostA,
        args: () => ({ name: 'another' }),
        undo: { verb: dropThing, node: () => hostA, args: () => ({ name: 'another' }) },
      },
      { together: true },
    )
    .local('fetch', {
      run: async (c) => {
        await c.tx(async (op) => {
          await op.query('DELETE FROM done WHERE task_id = $1 AND what = $2', [c.taskId, 'fetch']);
          await op.query('INSERT INTO done (task_id, what) VALUES ($1, $2)', [c.taskId, 'fetch']);
        });
        return 'fetched';
      },
      undo: async (c) => {
        await c.tx((op) => op.query('DELETE FROM done WHERE task_id = $1 AND what = $2', [c.taskId, 'fetch']));
      },
    })
    .tx('finish', {
      run: async (c) => {
        await database.query('INSERT INTO done (task_id, what) VALUES ($1, $2)', [c.taskId, 'finish'], c.op);
        if (c.input.fail) throw new PermanentError('told_to', 'told to fail');
      },
      undo: async (c) =>
        void (await database.query('DELETE FROM done WHERE task_id = $1 AND what = $2', [c.taskId, 'finish'], c.op)),
    });

/** Waits for one of its locks until the task above is over, and then takes the other. */
export const followUp = () =>
  defineWorkflow('test.follow-up', {
    version: 1,
    input: z.object({}),
    deadline: '2m',
    lock: () => ['chaos/two', 'chaos/zero', 'chaos/three', 'chaos/zulu'],
    whenLocked: 'wait',
  }).tx('follow', {
    run: async (c) => void (await c.op.query('INSERT INTO done (task_id, what) VALUES ($1, $2)', [c.taskId, 'follow'])),
    noUndo: 'it is the last',
  });
