import type { TaskDetail } from '../../src/modules/task/contract/task.api';
import { ControlPlane } from '../harness/control-plane';
import type { Figure } from '../harness/figure';
import type { Lab } from '../harness/lab';
import { percentile } from '../harness/statistics';

const warmUp = 3;
const rounds = 40;

/** In an order in which each may follow the one before. */
const verbs = ['pause', 'resume', 'suspend', 'resume', 'nmi', 'reboot', 'stop', 'start'] as const;

/** What the host took of a task, as management saw it: the calls, their way there and back, and their record. Milliseconds. */
const onHost = (task: TaskDetail): number =>
  task.steps.reduce((sum, step) => sum + (step.host === null ? 0 : (step.durationMs ?? 0)), 0);

/**
 * What an agent adds to each verb: the simulated VMM takes no time of its own, so all that a call takes is the agent's
 * records, checks and reports, and the way to it.
 */
export const agentVerbs: Figure = {
  name: 'agent, per verb',
  limitMinutes: 6,
  async run(lab: Lab) {
    const plane = await ControlPlane.start(lab, 'agent_verbs', { VC_STACK_MODULES__HOST__CPU_OVERCOMMIT: '64' });
    await plane.furnish();
    await plane.addHosts(1);
    const took = new Map<string, { host: number[]; whole: number[] }>();
    const add = (name: string, task: TaskDetail): void => {
      const entry = took.get(name) ?? { host: [], whole: [] };
      entry.host.push(onHost(task));
      entry.whole.push(task.durationMs ?? 0);
      took.set(name, entry);
    };
    for (let round = 0; round < warmUp + rounds; round += 1) {
      const counts = round >= warmUp;
      const id = await plane.create(`verbs-${round}`);
      for (const [index, verb] of verbs.entries()) {
        const { taskId } = await plane.api.ok('POST', `/instances/${id}/actions/${verb}?project=default`);
        const task = await plane.settled(taskId);
        const name = verb === 'resume' && verbs[index - 1] === 'suspend' ? 'resume from disk' : verb;
        if (counts) add(name, task);
      }
      const { taskId } = await plane.api.ok('DELETE', `/instances/${id}?project=default`);
      const task = await plane.settled(taskId);
      if (counts) add('delete', task);
    }
    return [...took].map(([name, { host, whole }]) => ({
      figure: `agent, ${name}, p50`,
      ours: percentile(host, 0.5),
      reference: percentile(whole, 0.5),
      unit: 'ms',
      note: 'aim: at most 30 ms; all calls of a host that the verb needs, on the simulated VMM; reference: the whole task',
    }));
  },
};
