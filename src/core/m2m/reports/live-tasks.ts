import { z } from 'zod';

/** What the transport asks those who keep the tasks. */
export abstract class LiveTasks {
  /**
   * Fences of those that are not over; names that are no ids are over. Being over is a committed state, so a node that
   * hears of it may forget.
   */
  abstract live(tasks: readonly string[]): Promise<Record<string, number>>;
}

export const liveTasksLimit = 1_000;

/** Body of `POST /node/tasks`: a node asks whether results of these tasks may still be asked for. */
export const liveTasksBody = z.object({ tasks: z.array(z.string().min(1).max(300)).max(liveTasksLimit) });

/** Those of the tasks that are not over, with their present fence. */
export const liveTasksAnswer = z.object({ live: z.record(z.string(), z.number()) });
