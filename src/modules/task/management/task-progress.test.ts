import type { Database } from '../../../core/db/database';
import type { Op } from '../../../core/db/op';
import { Outbox, type LiveEvent } from '../../../core/events/outbox';
import type { WorkflowEngine } from '../../../core/workflow/workflow-engine';
import { TaskProgress } from './task-progress';
import type { TaskRepository } from './task.repository';

const taskId = '0b7e9c5e-0000-4000-8000-000000000001';

class Kept extends Outbox {
  readonly events: LiveEvent[] = [];
  override async publish(_op: Op, event: LiveEvent): Promise<void> {
    this.events.push(event);
  }
}

const setUp = (project: { projectId: string | null } | undefined) => {
  const outbox = new Kept();
  const reported: string[] = [];
  const engine = { onProgress: async (_host: string, key: string) => void reported.push(key), onVerbDone: async (_host: string, key: string) => void reported.push(`done ${key}`) } as unknown as WorkflowEngine;
  const tasks = { projectOfRunning: async () => project } as unknown as TaskRepository;
  const database = { op: {}, tx: (work: (op: Op) => Promise<unknown>) => work({} as Op) } as unknown as Database;
  return { progress: new TaskProgress(engine, tasks, outbox, database), outbox, reported };
};

describe('TaskProgress', () => {
  it('hands every report to the engine, and tells viewers now and then', async () => {
    const { progress, outbox, reported } = setUp({ projectId: 'p' });
    for (const percent of [10, 11, 12]) await progress.onProgress('h', `${taskId}/make/run`, percent, 'at work');
    await progress.onProgress('h', `${taskId}/other/run`, 250, 'at work');
    await progress.onVerbDone('h', `${taskId}/make/run`);
    expect(reported).toHaveLength(5);
    expect(outbox.events).toMatchObject([
      { type: 'task.updated', projectId: 'p', subject: { kind: 'task', id: taskId }, data: { step: 'make', stepProgress: { phase: 'run', progress: 10, message: 'at work' } } },
      { data: { step: 'other', stepProgress: { progress: 100 } } },
    ]);
  });

  it('says nothing of steps that do not run on that host, nor of keys that are none', async () => {
    const { progress, outbox } = setUp(undefined);
    await progress.onProgress('h', `${taskId}/make/run`, 10, '');
    await progress.onProgress('h', 'nonsense', 10, '');
    expect(outbox.events).toEqual([]);
  });
});
