import * as fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Instance } from '../../src/modules/compute/contract/compute.api';
import type { Answer } from '../support/api-client';
import type { CloudModel, ModelInstance } from './cloud-model';
import type { SimulatedCloud } from './simulated-cloud';

interface Accepted {
  instance: Instance;
  taskId: string;
  code?: string;
}

type Command = fc.AsyncCommand<CloudModel, SimulatedCloud>;

/** What a step of a sequence does, and what the answer may be given what is known before it. */
abstract class Step implements Command {
  abstract check(model: Readonly<CloudModel>): boolean;
  abstract run(model: CloudModel, cloud: SimulatedCloud): Promise<void>;
  abstract toString(): string;
}

const refuse = (what: string, answer: Answer<unknown>): never => {
  throw new Error(`${what}: ${answer.status} ${JSON.stringify(answer.body)}`);
};

const pick = <T>(from: readonly T[], n: number): T | undefined => from[n % Math.max(1, from.length)];

const takeCreate = (
  model: CloudModel,
  what: string,
  before: { mayBeTaken: boolean; mustBeTaken: boolean },
  anyHost: boolean,
  answer: Answer<Accepted>,
): void => {
  if (answer.status === 202) {
    if (before.mustBeTaken) refuse(`${what} was accepted although the name is taken`, answer);
    model.created(answer.body.instance, answer.body.taskId);
    return;
  }
  if (answer.status === 409 && answer.body.code === 'name_taken' && before.mayBeTaken) return;
  if (answer.status === 409 && answer.body.code === 'no_host' && !anyHost) return;
  refuse(what, answer);
};

const nameBefore = (model: Readonly<CloudModel>, name: string): { mayBeTaken: boolean; mustBeTaken: boolean } => {
  const same = model.named(name);
  return {
    mayBeTaken: same.some((i) => !model.certainlyGone(i)),
    mustBeTaken: same.some((i) => model.certainlyAlive(i)),
  };
};

class Create extends Step {
  constructor(private readonly name: string) {
    super();
  }

  check(): boolean {
    return true;
  }

  async run(model: CloudModel, cloud: SimulatedCloud): Promise<void> {
    const before = nameBefore(model, this.name);
    takeCreate(
      model,
      this.toString(),
      before,
      model.hosts.every((h) => h === 'up'),
      await cloud.api.call('POST', '/instances?project=default', cloud.body(this.name)),
    );
  }

  toString(): string {
    return `create ${this.name}`;
  }
}

class Delete extends Step {
  constructor(private readonly which: number) {
    super();
  }

  check(model: Readonly<CloudModel>): boolean {
    return model.instances.size > 0;
  }

  async run(model: CloudModel, cloud: SimulatedCloud): Promise<void> {
    const instance = pick([...model.instances.values()], this.which);
    if (!instance) return;
    const gone = model.certainlyGone(instance);
    const alive = model.certainlyAlive(instance);
    const answer = await cloud.api.call('DELETE', `/instances/${instance.id}`);
    if (answer.status === 202 && !gone) return model.accepted(instance.id, answer.body.taskId, 'instance.delete');
    if (answer.status === 404 && !alive) return;
    refuse(`${this.toString()} (${instance.name}, ${alive ? 'alive' : gone ? 'gone' : 'in between'})`, answer);
  }

  toString(): string {
    return `delete #${this.which}`;
  }
}

class PowerVerb extends Step {
  constructor(
    private readonly verb: 'start' | 'stop' | 'reboot',
    private readonly which: number,
    private readonly force: boolean,
  ) {
    super();
  }

  check(model: Readonly<CloudModel>): boolean {
    return model.instances.size > 0;
  }

  async run(model: CloudModel, cloud: SimulatedCloud): Promise<void> {
    const instance = pick([...model.instances.values()], this.which);
    if (!instance) return;
    const alive = model.certainlyAlive(instance);
    const answer = await cloud.api.call(
      'POST',
      `/instances/${instance.id}/actions/${this.verb}`,
      this.verb === 'start' ? undefined : { force: this.force },
    );
    if (answer.status === 202 && !model.certainlyGone(instance))
      return model.accepted(instance.id, answer.body.taskId, `compute.${this.verb}-instance`);
    if (
      answer.status === 409 &&
      ['task_running', 'instance_running', 'instance_stopped', 'instance_has_no_host'].includes(answer.body.code ?? '')
    )
      return;
    if (answer.status === 404 && !alive) return;
    refuse(`${this.toString()} (${instance.name})`, answer);
  }

  toString(): string {
    return `${this.verb} #${this.which}${this.force ? ' by force' : ''}`;
  }
}

class Cancel extends Step {
  constructor(private readonly which: number) {
    super();
  }

  check(model: Readonly<CloudModel>): boolean {
    return model.tasks.size > 0;
  }

  async run(model: CloudModel, cloud: SimulatedCloud): Promise<void> {
    // The newest first: the others are over for the most part.
    const task = pick([...model.tasks.values()].reverse(), this.which);
    if (!task) return;
    const answer = await cloud.api.call('POST', `/tasks/${task.id}/actions/cancel`);
    if (answer.status === 202) return model.sawTaskState(task.id, answer.body.state, answer.body.error);
    if (answer.status === 409 && ['task_over', 'task_irrevocable'].includes(answer.body.code ?? '')) return;
    refuse(this.toString(), answer);
  }

  toString(): string {
    return `cancel task #${this.which} from the newest`;
  }
}

class HostChange extends Step {
  constructor(
    private readonly which: number,
    private readonly change: 'kill' | 'freeze' | 'back',
  ) {
    super();
  }

  check(model: Readonly<CloudModel>): boolean {
    const state = model.hosts[this.which];
    // One host is always there, or nothing would happen any more.
    return this.change === 'back' ? state !== 'up' : state === 'up' && model.hosts.filter((h) => h === 'up').length > 1;
  }

  async run(model: CloudModel, cloud: SimulatedCloud): Promise<void> {
    const host = cloud.hosts[this.which];
    if (!host) return;
    if (this.change === 'kill') await host.end('SIGKILL');
    else if (this.change === 'freeze') host.signal('SIGSTOP');
    else if (model.hosts[this.which] === 'frozen') host.signal('SIGCONT');
    else await host.start();
    model.hosts[this.which] = this.change === 'kill' ? 'dead' : this.change === 'freeze' ? 'frozen' : 'up';
  }

  toString(): string {
    return `host ${this.which}: ${this.change}`;
  }
}

class RestartManagement extends Step {
  check(): boolean {
    return true;
  }

  async run(_model: CloudModel, cloud: SimulatedCloud): Promise<void> {
    await cloud.restartManagement();
  }

  toString(): string {
    return 'kill and start management';
  }
}

/** The request is on its way when management dies; its key makes the repeat the same request. */
class CreateAcrossAKill extends Step {
  constructor(
    private readonly name: string,
    private readonly killAfterMs: number,
  ) {
    super();
  }

  check(): boolean {
    return true;
  }

  async run(model: CloudModel, cloud: SimulatedCloud): Promise<void> {
    const before = nameBefore(model, this.name);
    const send = (): Promise<Answer<Accepted> | undefined> =>
      cloud.api
        .call('POST', '/instances?project=default', cloud.body(this.name), { 'idempotency-key': key })
        .catch(() => undefined);
    const key = randomUUID();
    const first = send();
    await delay(this.killAfterMs);
    await cloud.restartManagement();
    const answer = await first;
    const repeated = await send();
    if (!repeated) throw new Error(`${this.toString()}: management does not answer after its restart`);
    if (answer?.status === 202 && JSON.stringify(answer.body) !== JSON.stringify(repeated.body))
      refuse(`${this.toString()}: the repeat got another answer than ${JSON.stringify(answer.body)}`, repeated);
    takeCreate(model, this.toString(), before, false, repeated);
  }

  toString(): string {
    return `create ${this.name} with management killed ${this.killAfterMs} ms into it, and again with its key`;
  }
}

class StepClock extends Step {
  constructor(private readonly minutes: -10 | 0 | 10) {
    super();
  }

  check(): boolean {
    return true;
  }

  async run(_model: CloudModel, cloud: SimulatedCloud): Promise<void> {
    await cloud.stepClock(this.minutes * 60_000);
    const who = await cloud.api.call('GET', '/whoami');
    if (who.status !== 200) refuse(`${this.toString()}: the session is over`, who);
    // One that begins now is measured by the same clock, also after the next step.
    await cloud.login();
  }

  toString(): string {
    return `management's clock ${this.minutes > 0 ? '+' : ''}${this.minutes} minutes`;
  }
}

/**
 * Time for things to happen, and a look at what is there: a deleted one may not come back, a success may not be taken
 * back.
 */
class Look extends Step {
  constructor(private readonly afterMs: number) {
    super();
  }

  check(model: Readonly<CloudModel>): boolean {
    return model.instances.size > 0;
  }

  async run(model: CloudModel, cloud: SimulatedCloud): Promise<void> {
    await delay(this.afterMs);
    const gone = new Set([...model.instances.values()].filter((i) => model.certainlyGone(i)).map((i) => i.id));
    const alive = [...model.instances.values()].filter((i) => model.certainlyAlive(i));
    const { items } = await cloud.api.ok('GET', '/instances?project=default&limit=100');
    for (const item of items)
      if (gone.has(item.id)) throw new Error(`${item.name} ${item.id} was deleted and is back: ${item.state}`);
    const listed = new Set(items.map((i) => i.id));
    for (const { id, name } of alive)
      if (!listed.has(id)) throw new Error(`${name} ${id} was made, nobody deleted it, and it is not there`);
    await lookAtTasks(model, cloud);
  }

  toString(): string {
    return `look after ${this.afterMs} ms`;
  }
}

const lookAtTasks = async (model: CloudModel, cloud: SimulatedCloud): Promise<void> => {
  const { items } = await cloud.api.ok('GET', '/tasks?limit=100');
  for (const task of items) model.sawTaskState(task.id, task.state, task.error);
};

const names = ['ant', 'bee', 'cat', 'dog', 'eel', 'fox'];
const anyName = fc.constantFrom(...names);
const any = fc.nat({ max: 40 });

/** The commands by weight: what users do is more frequent than what fails. */
export const commands: fc.Arbitrary<Command> = fc.oneof(
  { weight: 10, arbitrary: anyName.map((name) => new Create(name)) },
  { weight: 6, arbitrary: any.map((n) => new Delete(n)) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom('start', 'stop', 'reboot'), any, fc.boolean())
      .map(([verb, n, force]) => new PowerVerb(verb, n, force)),
  },
  { weight: 3, arbitrary: fc.nat({ max: 3 }).map((n) => new Cancel(n)) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.nat({ max: 2 }), fc.constantFrom('kill', 'freeze'))
      .map(([n, change]) => new HostChange(n, change)),
  },
  { weight: 4, arbitrary: fc.nat({ max: 2 }).map((n) => new HostChange(n, 'back')) },
  { weight: 3, arbitrary: fc.constantFrom(-10, 0, 10).map((minutes) => new StepClock(minutes)) },
  { weight: 5, arbitrary: fc.constantFrom(0, 50, 200, 1_000).map((ms) => new Look(ms)) },
  { weight: 1, arbitrary: fc.constant(new RestartManagement()) },
  {
    weight: 1,
    arbitrary: fc.tuple(anyName, fc.constantFrom(0, 5, 20, 50)).map(([name, ms]) => new CreateAcrossAKill(name, ms)),
  },
);

const ended = (instance: ModelInstance, model: CloudModel): string => {
  const create = model.tasks.get(instance.createTask);
  return `${instance.name} ${instance.id}: its create is ${create?.state ?? '?'}, it went ${instance.states.join(' > ')}`;
};

/**
 * The end of every sequence: all hosts are back, all tasks over, and every promise is looked at; then all is deleted
 * and nothing may be left.
 */
export const settleAndCheck = async (model: CloudModel, cloud: SimulatedCloud): Promise<void> => {
  for (const [which, state] of model.hosts.entries())
    if (state !== 'up') await new HostChange(which, 'back').run(model, cloud);
  await cloud.stepClock(0);
  await cloud.hostsReady();
  await allOver(model, cloud);
  await checkEnds(model, cloud);
  await checkSums(cloud);
  for (const instance of model.living) {
    const answer = await cloud.api.call('DELETE', `/instances/${instance.id}`);
    if (answer.status === 202) model.accepted(instance.id, answer.body.taskId, 'instance.delete');
    else if (answer.status !== 404) refuse(`the last delete of ${instance.name}`, answer);
  }
  await allOver(model, cloud);
  const left = await cloud.nothingLeft();
  if (left.length > 0) throw new Error(`left behind:\n${left.join('\n')}`);
  const { items } = await cloud.api.ok('GET', '/instances?project=default');
  if (items.length > 0) throw new Error(`still there: ${JSON.stringify(items)}`);
};

const allOver = async (model: CloudModel, cloud: SimulatedCloud): Promise<void> => {
  for (const { id } of model.liveTasks) {
    const task = await cloud.settled(id);
    if (task.state === 'stuck') throw new Error(`task ${task.type} ${id} is stuck: ${JSON.stringify(task.error)}`);
    model.sawTaskState(id, task.state, task.error);
  }
  await lookAtTasks(model, cloud);
};

const checkEnds = async (model: CloudModel, cloud: SimulatedCloud): Promise<void> => {
  for (const instance of model.instances.values()) {
    const create = model.tasks.get(instance.createTask);
    const answer = await cloud.api.call('GET', `/instances/${instance.id}`);
    const deleted = instance.deletes.some((id) => model.tasks.get(id)?.state === 'succeeded');
    if (create?.state === 'succeeded' && !deleted) {
      if (answer.status !== 200) refuse(`made, and not there: ${ended(instance, model)}`, answer);
      if (!['running', 'stopped', 'error'].includes(answer.body.state) && answer.body.state !== 'unknown')
        refuse(`all tasks are over: ${ended(instance, model)}`, answer);
    } else {
      if (answer.status !== 404) refuse(`undone or deleted, and still there: ${ended(instance, model)}`, answer);
      if (create?.state !== 'succeeded' && !create?.explained)
        throw new Error(`its create gives no reason: ${ended(instance, model)}`);
    }
  }
};

/** Claims, addresses and usage are the sum over the living instances. */
const checkSums = async (cloud: SimulatedCloud): Promise<void> => {
  const { items } = await cloud.api.ok('GET', '/instances?project=default&limit=100');
  const { items: hosts } = await cloud.api.ok('GET', '/hosts?limit=100');
  for (const { id, name, capacity } of hosts) {
    const mine = items.filter((i) => i.host?.id === id);
    const wanted = {
      instances: mine.length,
      vcpusUsed: mine.reduce((n, i) => n + i.flavor.vcpus, 0),
      memoryBytesUsed: mine.reduce((n, i) => n + i.flavor.memoryBytes, 0),
      diskBytesUsed: mine.reduce((n, i) => n + i.flavor.diskBytes, 0),
    };
    for (const [what, value] of Object.entries(wanted) as [keyof typeof wanted, number][])
      if (capacity[what] !== value)
        throw new Error(`host ${name} counts ${what} ${capacity[what]}; its instances have ${value}`);
  }
  const { items: networks } = await cloud.api.ok('GET', '/networks?project=default');
  const used = networks.reduce((n, network) => n + network.addresses.used, 0);
  const addresses = items.flatMap((i) => i.ports.map((p) => p.address));
  if (used !== items.length || new Set(addresses).size !== items.length)
    throw new Error(`${items.length} instances, ${used} addresses in use: ${addresses.join(', ')}`);
  const { items: volumes } = await cloud.api.ok('GET', '/volumes?project=default&limit=100');
  if (volumes.length !== items.length) throw new Error(`${items.length} instances, ${volumes.length} volumes`);
};
