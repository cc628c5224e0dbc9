import type { Command } from 'commander';
import type { CliColumn, CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import { usageFailure } from '../../../core/cli/cli-failure';
import { formatBytes, formatTime } from '../../../core/cli/format';
import { parseInteger } from '../../../core/cli/parse-size';
import type { Instance } from '../contract/compute.api';
import { keyOrName } from './public-key-file';

interface WithTask {
  instance: Instance;
  taskId: string;
}

interface SeveralWithTask {
  instances: Instance[];
  taskId: string;
}

interface CreateOptions {
  count?: string;
  flavor: string;
  image: string;
  network: string[];
  key?: string[];
  userData?: string;
  description?: string;
  stopGrace?: string;
  host?: string;
  wait?: boolean;
}

const maxUserDataBytes = 65_536;
/** That a list shows unless it is told otherwise. */
const mostInstances = 10_000;
const pathOf = (ref: string): string => `/instances/${encodeURIComponent(ref)}`;
const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];

const columns: CliColumn<Instance>[] = [
  { header: 'name', value: (i) => i.name },
  { header: 'state', value: (i) => i.state },
  { header: 'address', value: (i) => i.ports.map((p) => p.address).join(', ') },
  { header: 'flavor', value: (i) => i.flavor.name },
  { header: 'image', value: (i) => i.image.name },
  { header: 'host', value: (i) => i.host?.name ?? '' },
  { header: 'created', value: (i) => formatTime(i.createdAt) },
  { header: 'vcpus', value: (i) => String(i.flavor.vcpus), wide: true },
  { header: 'memory', value: (i) => formatBytes(i.flavor.memoryBytes), wide: true },
  { header: 'vmm', value: (i) => i.vmm ?? '', wide: true },
  { header: 'reason', value: (i) => i.stateReason, wide: true },
  { header: 'id', value: (i) => i.id, wide: true },
];

/** `n1` or `n1,address=10.0.0.5`. */
export const parseNetwork = (value: string): { network: string; address?: string } => {
  const [network = '', ...settings] = value.split(',');
  if (network === '') throw usageFailure(`--network: "${value}" names no network`);
  let address: string | undefined;
  for (const setting of settings) {
    const match = /^address=(.+)$/.exec(setting);
    if (!match || address !== undefined) throw usageFailure(`--network: "${setting}" is not address=<IPv4>`);
    address = match[1];
  }
  return { network, ...(address !== undefined && { address }) };
};

export class InstanceCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const instance = program.command('instance').description('virtual machines');
    this.registerReads(instance, context);
    this.registerCreate(instance, context);
    this.registerVerbs(instance, context);
    instance
      .command('console')
      .description('the serial console; without a terminal it pipes standard input and output')
      .argument('<instance>', 'name or id')
      .addHelpText('after', '\nCtrl+] leaves the console; the instance runs on.\n\nExamples:\n  vcctl instance console web')
      .action(async (ref: string) => {
        const { openConsole } = await import('./console.js');
        await openConsole(context, ref);
      });
  }

  private registerReads(instance: Command, context: CliContext): void {
    instance
      .command('list')
      .description('list instances')
      .option('--state <state>', 'only those in this state')
      .option('--host <host>', 'only those on this host')
      .option('--all-projects', 'of all projects that you can see')
      .option('--limit <count>', 'at most so many', String(mostInstances))
      .addHelpText('after', '\nExamples:\n  vcctl instance list\n  vcctl instance list --state running -o wide\n  vcctl instance list -o name')
      .action(async (options: { state?: string; host?: string; allProjects?: boolean; limit: string }) => {
        const query = { project: options.allProjects ? undefined : context.project(), state: options.state, host: options.host };
        context.print(await context.list<Instance>('/instances', query, parseInteger(options.limit, '--limit', 1)), columns);
      });
    instance
      .command('show')
      .description('show an instance')
      .argument('<instance>', 'name or id')
      .action(async (ref: string) => context.printOne(await context.request<Instance>('GET', pathOf(ref), { query: { project: context.project() } })));
  }

  private registerCreate(instance: Command, context: CliContext): void {
    instance
      .command('create')
      .description('create an instance and start it')
      .argument('<name>')
      .requiredOption('--flavor <flavor>', 'its size')
      .requiredOption('--image <image>', 'what its root disk holds')
      .requiredOption('--network <network[,address=IPv4]>', 'a network to join; may be repeated', collect)
      .option('--key <file|name>', 'public key file, or the name of a stored key; may be repeated', collect)
      .option('--user-data <file>', 'handed to the guest as it is, at most 64 KiB')
      .option('--description <text>')
      .option('--stop-grace <seconds>', 'how long a stop waits for the guest')
      .option('--host <host>', 'place it on this host (admins only)')
      .option('--count <count>', 'make so many of them, called <name>-1 and so on: all or none')
      .option('-w, --wait', 'show each step and return when it runs')
      .addHelpText(
        'after',
        `
Examples:
  vcctl instance create web --flavor tiny --image linux --network n1 --key me.pub --wait
  vcctl instance create db --flavor large --image linux --network n1,address=10.10.0.5 --network storage --user-data init.sh
  vcctl instance create web --count 3 --flavor tiny --image linux --network n1 --wait`,
      )
      .action(async (name: string, options: CreateOptions) => {
        if (options.count !== undefined) return this.createSeveral(name, options, parseInteger(options.count, '--count', 1, 100), context);
        const made = await context.request<WithTask>('POST', '/instances', { query: { project: context.project() }, body: await createBody(name, options) });
        if (options.wait) await context.follow(made.taskId);
        context.printOne(options.wait ? await context.request<Instance>('GET', pathOf(made.instance.id)) : made.instance);
        if (!options.wait) context.info(`Follow it: vcctl task watch ${made.taskId}`);
      });
  }

  private async createSeveral(name: string, options: CreateOptions, count: number, context: CliContext): Promise<void> {
    const made = await context.request<SeveralWithTask>('POST', '/instances/batch', { query: { project: context.project() }, body: { ...(await createBody(name, options)), count } });
    if (!options.wait) {
      context.print(made.instances, columns);
      return context.info(`Follow them: vcctl task watch ${made.taskId}`);
    }
    await context.follow(made.taskId);
    // One that was deleted meanwhile is not in the list, and no failure.
    const now = new Map((await context.list<Instance>('/instances', { project: context.project() }, mostInstances)).map((i) => [i.id, i]));
    context.print(made.instances.flatMap(({ id }) => now.get(id) ?? []), columns);
  }

  private registerVerbs(instance: Command, context: CliContext): void {
    const act = async (refs: string[], verb: string, past: string, body: object | undefined, wait: boolean | undefined): Promise<void> =>
      context.each(refs, async (ref) => {
        const { taskId } = await context.request<WithTask>('POST', `${pathOf(ref)}/actions/${verb}`, { query: { project: context.project() }, ...(body && { body }) });
        if (wait) await context.follow(taskId);
        context.info(wait ? `instance ${ref} ${past}` : `instance ${ref}: ${verb} accepted (task ${taskId})`);
      });
    instance
      .command('start')
      .description('start instances')
      .argument('<instance...>', 'names or ids')
      .option('-w, --wait', 'return when they run')
      .action((refs: string[], options: { wait?: boolean }) => act(refs, 'start', 'started', undefined, options.wait));
    instance
      .command('stop')
      .description('stop instances: power button, then by force after the grace period')
      .argument('<instance...>', 'names or ids')
      .option('--force', 'at once, without asking the guest')
      .option('--grace <seconds>', 'how long to wait for the guest')
      .option('-w, --wait', 'return when they are stopped')
      .addHelpText('after', '\nExamples:\n  vcctl instance stop web db --wait\n  vcctl instance stop web --force')
      .action((refs: string[], options: { force?: boolean; grace?: string; wait?: boolean }) => {
        const graceSeconds = options.grace === undefined ? undefined : parseInteger(options.grace, '--grace', 0, 600);
        return act(refs, 'stop', 'stopped', { force: options.force ?? false, ...(graceSeconds !== undefined && { graceSeconds }) }, options.wait);
      });
    instance
      .command('reboot')
      .description('reboot instances')
      .argument('<instance...>', 'names or ids')
      .option('--force', 'reset, without asking the guest')
      .option('-w, --wait', 'return when they run again')
      .action((refs: string[], options: { force?: boolean; wait?: boolean }) => act(refs, 'reboot', 'rebooted', { force: options.force ?? false }, options.wait));
    instance
      .command('delete')
      .description('delete instances with their root volumes')
      .argument('<instance...>', 'names or ids')
      .option('-y, --yes', 'do not ask')
      .option('-w, --wait', 'return when they are gone')
      .addHelpText('after', '\nExamples:\n  vcctl instance delete web --yes --wait')
      .action(async (refs: string[], options: { yes?: boolean; wait?: boolean }) => {
        if (!options.yes && !(await context.confirm(`Delete ${refs.join(', ')} and all data on their root volumes?`))) return;
        await context.each(refs, async (ref) => {
          const { taskId } = await context.request<WithTask>('DELETE', pathOf(ref), { query: { project: context.project() } });
          if (options.wait) await context.follow(taskId);
          context.info(options.wait ? `instance ${ref} deleted` : `instance ${ref}: delete accepted (task ${taskId})`);
        });
      });
  }
}

const createBody = async (name: string, options: CreateOptions): Promise<object> => ({
  name,
  flavor: options.flavor,
  image: options.image,
  networks: options.network.map(parseNetwork),
  sshKeys: await Promise.all((options.key ?? []).map(keyOrName)),
  ...(options.userData !== undefined && { userData: await readUserData(options.userData) }),
  ...(options.description !== undefined && { description: options.description }),
  ...(options.stopGrace !== undefined && { stopGraceSeconds: parseInteger(options.stopGrace, '--stop-grace', 0, 600) }),
  ...(options.host !== undefined && { host: options.host }),
});

const readUserData = async (file: string): Promise<string> => {
  const { readFile } = await import('node:fs/promises');
  const content = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw usageFailure(error.code === 'ENOENT' ? `--user-data: there is no file ${file}` : `--user-data: ${error.message}`);
  });
  if (content.length > maxUserDataBytes) throw usageFailure(`--user-data: ${file} has ${content.length} bytes, at most ${maxUserDataBytes} are taken`);
  return content.toString('base64');
};
