import type { Database } from '../../db/database';
import type { Op } from '../../db/rows/op';
import { Outbox, type LiveEvent } from '../../events/outbox';
import type { TaskRequestRepository } from '../storage/task-request.repository';
import { StepProgress } from './step-progress';

const taskId = '0b7e9c5e-0000-4000-8000-000000000001';

class Kept extends Outbox {
  readonly events: LiveEvent[] = [];
  override async publish(_op: Op, event: LiveEvent): Promise<void> {
    this.events.push(event);
  }
}

const setUp = (task: { projectId: string | null } | undefined) => {
  const outbox = new Kept();
  const stored: number[] = [];
  const requests = {
    progress: async (_op: Op, _task: string, _step: string, _phase: string, _host: string, percent: number) => (
      stored.push(percent), task
    ),
  };
  return {
    progress: new StepProgress({ op: {} } as unknown as Database, requests as unknown as TaskRequestRepository, outbox),
    outbox,
    stored,
  };
};

describe('the progress of a step', () => {
  it('is stored at every report, and told to viewers now and then', async () => {
    const { progress, outbox, stored } = setUp({ projectId: 'p' });
    for (const percent of [10, 11, 12]) await progress.report('h', `${taskId}/make/run`, percent, 'at work');
    await progress.report('h', `${taskId}/other/run`, 250, 'at work');
    progress.forget(`${taskId}/make/run`);
    await progress.report('h', `${taskId}/make/run`, 13, 'at work');
    expect(stored).toEqual([10, 11, 12, 100, 13]);
    expect(outbox.events).toMatchObject([
      {
        type: 'task.updated',
        projectId: 'p',
        subject: { kind: 'task', id: taskId },
        data: { step: 'make', stepProgress: { phase: 'run', progress: 10, message: 'at work' } },
      },
      { data: { step: 'other', stepProgress: { progress: 100 } } },
      { data: { step: 'make', stepProgress: { progress: 13 } } },
    ]);
  });

  it('is nothing for steps that do not run on that host, and for keys that are none', async () => {
    const { progress, outbox, stored } = setUp(undefined);
    await progress.report('h', `${taskId}/make/run`, 10, '');
    await progress.report('h', 'nonsense', 10, '');
    expect(stored).toEqual([10]);
    expect(outbox.events).toEqual([]);
  });
});
