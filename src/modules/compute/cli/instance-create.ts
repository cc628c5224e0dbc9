import type { Command } from 'commander';
import type { CliContext } from '../../../core/cli/cli-context';
import { usageFailure } from '../../../core/cli/cli-failure';
import { parseInteger } from '../../../core/cli/parse-size';
import type { Instance } from '../contract/compute.api';
import { instanceColumns, instanceView } from './instance-view';
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
const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];

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

/** `instance create`. */
export const registerInstanceCreate = (instance: Command, context: CliContext): void => {
  instance
    .command('create')
    .description('create an instance and start it')
    .argument('<name>', 'any text of up to 63 characters; the hostname is derived from it and shown in the answer')
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
      if (options.count !== undefined) return createSeveral(name, options, parseInteger(options.count, '--count', 1, 100), context);
      const made = await context.request<WithTask>('POST', '/instances', { query: { project: context.project() }, body: await createBody(name, options, context) });
      if (options.wait) await context.follow(made.taskId);
      else context.info(`Follow it: vcctl task watch ${made.taskId}`);
      context.show(options.wait ? await context.request<Instance>('GET', `/instances/${made.instance.id}`) : made.instance, instanceView());
    });
};

const createSeveral = async (name: string, options: CreateOptions, count: number, context: CliContext): Promise<void> => {
  const made = await context.request<SeveralWithTask>('POST', '/instances/batch', { query: { project: context.project() }, body: { ...(await createBody(name, options, context)), count } });
  if (!options.wait) {
    context.info(`Follow them: vcctl task watch ${made.taskId}`);
    return context.print(made.instances, instanceColumns);
  }
  await context.follow(made.taskId);
  // One that was deleted meanwhile is not in the list, and no failure.
  const now = new Map((await context.list<Instance>('/instances', { project: context.project() })).map((i) => [i.id, i]));
  context.print(made.instances.flatMap(({ id }) => now.get(id) ?? []), instanceColumns);
};

const createBody = async (name: string, options: CreateOptions, context: CliContext): Promise<object> => {
  const key = async (value: string): Promise<string> => {
    const found = await keyOrName(value);
    return found === value && !value.includes(' ') ? context.resolve('ssh-key', value) : found;
  };
  return {
    name,
    flavor: await context.resolve('flavor', options.flavor),
    image: await context.resolve('image', options.image),
    networks: await Promise.all(options.network.map(parseNetwork).map(async (nic) => ({ ...nic, network: await context.resolve('network', nic.network) }))),
    sshKeys: await Promise.all((options.key ?? []).map(key)),
    ...(options.userData !== undefined && { userData: await readUserData(options.userData) }),
    ...(options.description !== undefined && { description: options.description }),
    ...(options.stopGrace !== undefined && { stopGraceSeconds: parseInteger(options.stopGrace, '--stop-grace', 0, 600) }),
    ...(options.host !== undefined && { host: await context.resolve('host', options.host) }),
  };
};

const readUserData = async (file: string): Promise<string> => {
  const { readFile } = await import('node:fs/promises');
  const content = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw usageFailure(error.code === 'ENOENT' ? `--user-data: there is no file ${file}` : `--user-data: ${error.message}`);
  });
  if (content.length > maxUserDataBytes) throw usageFailure(`--user-data: ${file} has ${content.length} bytes, at most ${maxUserDataBytes} are taken`);
  return content.toString('base64');
};
