import { z } from 'zod';

export const standingLimit = 1_000;

/** Body of `POST /node/tasks`: a node asks whether results of these tasks may still be asked for. */
export const standingBody = z.strictObject({ tasks: z.array(z.string().min(1).max(300)).max(standingLimit) });

/** Those of the tasks that are not over, with their present fence. */
export const standingAnswer = z.object({ live: z.record(z.string(), z.number()) });
