import type { SeenEvent } from './event-follower';

/**
 * What a user may see one after the other. Read: whatever happens to processes, hosts and clocks, an instance goes only
 * along these edges. A verb that fails or is cancelled gives its instance the state back that its host last reported.
 */
const instanceEdges: Record<string, readonly string[]> = {
  building: ['running', 'deleting', 'error', 'stopped'],
  running: [
    'stopping',
    'rebooting',
    'pausing',
    'suspending',
    'deleting',
    'stopped',
    'paused',
    'suspended',
    'unknown',
    'error',
  ],
  paused: ['resuming', 'stopping', 'deleting', 'running', 'stopped', 'unknown', 'error'],
  suspended: ['resuming', 'stopping', 'deleting', 'running', 'stopped', 'unknown', 'error'],
  stopped: [
    'starting',
    'resizing',
    'rebuilding',
    'rescuing',
    'unrescuing',
    'rescued',
    'deleting',
    'unknown',
    'running',
    'error',
  ],
  rescued: ['stopping', 'rebooting', 'unrescuing', 'deleting', 'stopped', 'unknown', 'error'],
  starting: ['running', 'rescued', 'stopped', 'error', 'deleting'],
  stopping: ['running', 'paused', 'suspended', 'rescued', 'stopped', 'error', 'deleting'],
  rebooting: ['running', 'rescued', 'stopped', 'error', 'deleting'],
  pausing: ['running', 'paused', 'stopped', 'error', 'deleting'],
  suspending: ['running', 'suspended', 'stopped', 'error', 'deleting'],
  resuming: ['running', 'paused', 'suspended', 'stopped', 'error', 'deleting'],
  rebuilding: ['stopped', 'running', 'error', 'deleting'],
  rescuing: ['rescued', 'stopped', 'running', 'error', 'deleting'],
  unrescuing: ['stopped', 'rescued', 'error', 'deleting'],
  resizing: ['stopped', 'running', 'error', 'deleting'],
  unknown: [
    'running',
    'paused',
    'suspended',
    'rescued',
    'stopped',
    'error',
    'starting',
    'stopping',
    'rebooting',
    'pausing',
    'suspending',
    'resuming',
    'resizing',
    'rebuilding',
    'rescuing',
    'unrescuing',
    'deleting',
  ],
  error: [
    'running',
    'paused',
    'suspended',
    'rescued',
    'stopped',
    'starting',
    'stopping',
    'rebooting',
    'rescuing',
    'unrescuing',
    'deleting',
    'unknown',
  ],
  // Only a delete that failed, or was cancelled before it began, gives it back.
  deleting: ['error', 'running', 'paused', 'suspended', 'rescued', 'stopped'],
};

const taskEdges: Record<string, readonly string[]> = {
  queued: ['running', 'compensating', 'succeeded', 'failed', 'cancelled'],
  running: ['compensating', 'succeeded', 'stuck'],
  compensating: ['failed', 'cancelled', 'stuck'],
  stuck: ['compensating', 'failed'],
  succeeded: [],
  failed: [],
  cancelled: [],
};

const finalStates: readonly string[] = ['succeeded', 'failed', 'cancelled'];

export interface ModelInstance {
  id: string;
  name: string;
  createTask: string;
  /** Tasks of deletes that were accepted. */
  deletes: string[];
  state: string;
  states: string[];
  ran: boolean;
  gone: boolean;
}

export interface ModelTask {
  id: string;
  type: string;
  instanceId: string;
  state: string;
  explained: boolean;
}

/** What the test knows for certain, from answers and events; what contradicts it is a violation. */
export class CloudModel {
  readonly instances = new Map<string, ModelInstance>();
  readonly tasks = new Map<string, ModelTask>();
  readonly violations: string[] = [];
  readonly hosts: ('up' | 'frozen' | 'dead')[];
  private lastSeq = 0;

  constructor(hosts: number) {
    this.hosts = Array.from({ length: hosts }, () => 'up');
  }

  /** An accepted create. Its events may have come before the answer. */
  created(instance: { id: string; name: string }, taskId: string): void {
    const known = this.instances.get(instance.id);
    if (known) Object.assign(known, { name: instance.name, createTask: taskId });
    else
      this.instances.set(instance.id, {
        ...instance,
        createTask: taskId,
        deletes: [],
        state: 'building',
        states: ['building'],
        ran: false,
        gone: false,
      });
    this.task(taskId, 'instance.create', instance.id);
  }

  accepted(instanceId: string, taskId: string, type: string): void {
    if (type === 'instance.delete') this.instances.get(instanceId)?.deletes.push(taskId);
    this.task(taskId, type, instanceId);
  }

  /** As a client that follows the live events. */
  saw(event: SeenEvent): void {
    if (event.seq <= this.lastSeq) this.violations.push(`event ${event.seq} came after ${this.lastSeq}`);
    this.lastSeq = event.seq;
    if (event.subject.kind === 'instance') this.sawInstance(event);
    if (event.subject.kind === 'task') this.sawTask(event);
  }

  /** What REST answers for a task, which may not contradict what was seen before. */
  sawTaskState(id: string, state: string, error: unknown): void {
    const task = this.tasks.get(id);
    if (!task) return;
    if (finalStates.includes(task.state) && task.state !== state)
      this.violations.push(`task ${task.type} ${id} was ${task.state} and is ${state} now`);
    if (finalStates.includes(state)) task.state = state;
    if (error) task.explained = true;
  }

  /** Certainly there: nobody asked for its end, and its create did not fail. */
  certainlyAlive(instance: ModelInstance): boolean {
    const create = this.tasks.get(instance.createTask)?.state;
    return !instance.gone && instance.deletes.length === 0 && create === 'succeeded';
  }

  /** Certainly gone: its end was seen. */
  certainlyGone(instance: ModelInstance): boolean {
    return instance.gone || instance.deletes.some((id) => this.tasks.get(id)?.state === 'succeeded');
  }

  named(name: string): ModelInstance[] {
    return [...this.instances.values()].filter((i) => i.name === name);
  }

  /** Those that the last command of a sequence has to remove. */
  get living(): ModelInstance[] {
    return [...this.instances.values()].filter((i) => !this.certainlyGone(i));
  }

  get liveTasks(): ModelTask[] {
    return [...this.tasks.values()].filter((t) => !finalStates.includes(t.state));
  }

  private task(id: string, type: string, instanceId: string): ModelTask {
    let task = this.tasks.get(id);
    if (!task) this.tasks.set(id, (task = { id, type, instanceId, state: 'queued', explained: false }));
    return task;
  }

  private sawInstance({ type, subject, data }: SeenEvent): void {
    let instance = this.instances.get(subject.id);
    if (!instance)
      this.instances.set(
        subject.id,
        (instance = {
          id: subject.id,
          name: data.name ?? '',
          createTask: data.taskId ?? '',
          deletes: [],
          state: 'building',
          states: ['building'],
          ran: false,
          gone: false,
        }),
      );
    const story = `instance ${instance.name} ${instance.id} (${instance.states.join(' > ')})`;
    if (instance.gone) {
      this.violations.push(`${story} was gone, and then came ${type}: ${data.state}`);
      return;
    }
    if (type === 'instance.deleted') {
      instance.gone = true;
      instance.states.push('gone');
      return;
    }
    if (data.state === 'running') instance.ran = true;
    if (data.state === instance.state) return;
    if (!(instanceEdges[instance.state] ?? []).includes(data.state))
      this.violations.push(`${story} became ${data.state}`);
    instance.state = data.state;
    instance.states.push(data.state);
  }

  private sawTask({ subject, data }: SeenEvent): void {
    if (data.subject === undefined || !(data.type ?? '').startsWith('instance.')) return;
    const task = this.task(subject.id, data.type ?? '', data.subject.id);
    if (data.error) task.explained = true;
    if (data.state === task.state) return;
    // An answer may have told the end before its event came.
    if (!(taskEdges[task.state] ?? []).includes(data.state) && !this.isEarlier(data.state, task.state))
      this.violations.push(`task ${task.type} ${task.id} went from ${task.state} to ${data.state}`);
    if (!this.isEarlier(data.state, task.state)) task.state = data.state;
  }

  /**
   * REST answers run ahead of the events: then an event tells of a state before the one that is known, never of another
   * end.
   */
  private isEarlier(told: string, known: string): boolean {
    return !finalStates.includes(told) && finalStates.includes(known);
  }
}
