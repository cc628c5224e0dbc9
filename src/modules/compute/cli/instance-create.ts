import { type Command, Option } from 'commander';
import type { CliContext } from '../../../core/cli/cli-context';
import { choice } from '../../../core/cli/input/choice';
import { usageFailure } from '../../../core/cli/cli-failure';
import { parseInteger, parseSize } from '../../../core/cli/input/parse-size';
import type { BodyOf } from '../../../rest/rest-call';
import { machineActions, type MachineAction } from '../contract/machine-options';
import { restartPolicies, type RestartPolicy } from '../contract/restart-policies';
import { readUserData } from './guest-data-file';
import { instanceColumns, instanceView } from './instance-view';
import { given, parseMetadata } from './labels';
import { keyOrName } from './public-key-file';

interface CreateOptions {
  count?: string;
  flavor: string;
  image: string;
  network: string[];
  key?: string[];
  userData?: string;
  configDrive?: 'openstack' | 'nocloud' | true;
  restartPolicy?: RestartPolicy;
  secureBoot?: boolean;
  tpm?: boolean;
  balloon?: boolean;
  vsock?: boolean;
  share?: string[];
  watchdog?: MachineAction;
  panic?: MachineAction;
  maxVcpus?: string;
  maxMemory?: string;
  description?: string;
  stopGrace?: string;
  vmm?: string;
  host?: string;
  tag?: string[];
  meta?: string[];
  protected?: boolean;
  wait?: boolean;
}

const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];

interface AskedNetwork {
  network: string;
  address?: string;
  defaultRoute?: true;
  securityGroups?: string[];
}

/** `n1`, `n1,address=10.0.0.5`, `n1,default-route`, `n1,security-group=web,security-group=db`. */
export const parseNetwork = (value: string): AskedNetwork => {
  const [network = '', ...settings] = value.split(',');
  if (network === '') throw usageFailure(`--network: "${value}" names no network`);
  let address: string | undefined;
  let defaultRoute = false;
  const securityGroups: string[] = [];
  for (const setting of settings) {
    if (setting === 'default-route') {
      defaultRoute = true;
      continue;
    }
    const [, name, given] = /^(address|security-group)=(.+)$/.exec(setting) ?? [];
    if (name === 'security-group' && given !== undefined) {
      securityGroups.push(given);
      continue;
    }
    if (name === undefined || address !== undefined)
      throw usageFailure(
        `--network: "${setting}" is neither address=<IPv4>, default-route nor security-group=<name or id>`,
      );
    address = given;
  }
  return {
    network,
    ...(address !== undefined && { address }),
    ...(defaultRoute && { defaultRoute }),
    ...(securityGroups.length > 0 && { securityGroups }),
  };
};

/** `media`, `media:ro`. */
export const parseShare = (value: string): { share: string; readonly: boolean } => {
  const [share = '', how, ...more] = value.split(':');
  if (share === '' || more.length > 0 || (how !== undefined && how !== 'ro'))
    throw usageFailure(`--share: "${value}" is neither the name of a share nor <name>:ro`);
  return { share, readonly: how === 'ro' };
};

/** What its machine is to be. */
const addMachineOptions = (command: Command): Command =>
  command
    .option('--secure-boot', 'start only what is signed by a key that its UEFI trusts')
    .option('--tpm', 'give it a TPM 2.0 of its own')
    .option('--balloon', 'let memory that its guest does not need go to its host')
    .option('--vsock', 'reach ports of its guest without a network')
    .option(
      '--share <name[:ro]>',
      'a directory of its host that its guest can mount (see: share list), with :ro only to read; may be repeated',
      collect,
    )
    .addOption(
      choice(
        new Option(
          '--watchdog <action>',
          'give it a watchdog: what becomes of it when its guest does not tell it any more',
        ),
        machineActions,
      ),
    )
    .addOption(choice(new Option('--panic <action>', 'what becomes of it when its guest panics'), machineActions));

/** `instance create`. */
export const registerInstanceCreate = (instance: Command, context: CliContext): void => {
  addMachineOptions(instance.command('create'))
    .description('create an instance and start it')
    .argument('<name>', 'any text of up to 63 characters; the guest gets a hostname derived from it')
    .requiredOption('--flavor <flavor>', 'its size')
    .requiredOption('--image <image>', 'what its root disk holds')
    .requiredOption(
      '--network <network[,address=IPv4][,default-route]>',
      'a network to join; may be repeated. The first with a way out has the default route, unless one asks for it',
      collect,
    )
    .option('--key <file|name>', 'public key file, or the name of a stored key; may be repeated', collect)
    .option('--user-data <file>', 'handed to the guest as it is, at most 64 KiB; "-" reads standard input')
    .option(
      '--config-drive [form]',
      'a disk with what the metadata service tells, for guests that do not ask it (tiny-cloud; cloud-init 23.3 and 23.4 on Cloud Hypervisor before 53): openstack (default) or nocloud',
    )
    .option('--description <text>')
    .option('--stop-grace <seconds>', 'how long a stop waits for the guest')
    .addOption(
      choice(
        new Option('--restart-policy <policy>', 'what its host does when it fails: on-failure starts it again'),
        restartPolicies,
      ),
    )
    .option(
      '--max-vcpus <count>',
      'the most that a resize may give it while it runs; its flavor is what counts until then',
    )
    .option('--max-memory <size>', 'the same of memory, e.g. 8GiB')
    .option('--vmm <kind>', 'run it on this kind of virtual machine monitor, e.g. qemu or cloud-hypervisor')
    .option('--host <host>', 'place it on this host (admins only)')
    .option('--tag <tag>', 'a word to find it by; may be repeated', collect)
    .option('--meta <key=value>', 'read by its guest; may be repeated', collect)
    .option('--protected', 'deleting it is refused until this is taken away')
    .option('--count <count>', 'make so many of them, called <name>-1 and so on: all or none')
    .option('-w, --wait', 'show each step and return when it runs')
    .addHelpText(
      'after',
      `
Examples:
  vcctl instance create web --flavor tiny --image linux --network n1 --key me.pub --wait
  vcctl instance create db --flavor large --image linux --network n1,address=10.10.0.5 --network storage --user-data init.sh
  vcctl instance create win --flavor large --image windows --network n1 --secure-boot --tpm --config-drive --user-data setup.ps1
  vcctl instance create shop --flavor large --image linux --network n1 --watchdog restart --panic restart
  vcctl instance create build --flavor small --image linux --network n1 --share sources:ro --share results
  vcctl instance create app --flavor small --image linux --network n1 --max-vcpus 8 --max-memory 16GiB --wait
  vcctl instance create web --count 3 --flavor tiny --image linux --network n1 --wait`,
    )
    .action(async (name: string, options: CreateOptions) => {
      if (options.count !== undefined)
        return createBatch(name, options, parseInteger(options.count, '--count', 1, 100), context);
      const made = await context.request('post', '/instances', {
        query: { project: context.project() },
        body: await createBody(name, options, context),
      });
      if (options.wait) await context.follow(made.taskId);
      else context.info(`Follow it: vcctl task watch ${made.taskId}`);
      context.show(
        options.wait
          ? await context.request('get', '/instances/{ref}', { path: { ref: made.instance.id } })
          : made.instance,
        instanceView(),
      );
    });
};

const createBatch = async (name: string, options: CreateOptions, count: number, context: CliContext): Promise<void> => {
  const made = await context.request('post', '/instances/batch', {
    query: { project: context.project() },
    body: { ...(await createBody(name, options, context)), count },
  });
  if (!options.wait) {
    context.info(`Follow them: vcctl task watch ${made.taskId}`);
    return context.print(made.instances, instanceColumns);
  }
  await context.follow(made.taskId);
  // One that was deleted meanwhile is not in the list, and no failure.
  const now = new Map(
    (await context.list('/instances', { query: { project: context.project() } })).map((i) => [i.id, i]),
  );
  context.print(
    made.instances.flatMap(({ id }) => now.get(id) ?? []),
    instanceColumns,
  );
};

/** What is asked of its machine, where anything is. */
const machineBody = ({
  secureBoot = false,
  tpm = false,
  balloon = false,
  vsock = false,
  watchdog,
  panic,
}: CreateOptions): Pick<BodyOf<'post', '/instances'>, 'machine'> => {
  const machine = {
    ...(secureBoot && { secureBoot }),
    ...(tpm && { tpm }),
    ...(balloon && { balloon }),
    ...(vsock && { vsock }),
    ...(watchdog && { watchdog }),
    ...(panic && { panic }),
  };
  return Object.keys(machine).length === 0 ? {} : { machine };
};

const createBody = async (
  name: string,
  options: CreateOptions,
  context: CliContext,
): Promise<BodyOf<'post', '/instances'>> => {
  const key = async (value: string): Promise<string> => {
    const found = await keyOrName(value);
    return found === value && !value.includes(' ') ? context.resolve('ssh-key', value) : found;
  };
  return {
    name,
    flavor: await context.resolve('flavor', options.flavor),
    image: await context.resolve('image', options.image),
    networks: await Promise.all(
      options.network
        .map(parseNetwork)
        .map(async (nic) => ({ ...nic, network: await context.resolve('network', nic.network) })),
    ),
    sshKeys: await Promise.all((options.key ?? []).map(key)),
    ...(options.userData !== undefined && { userData: await readUserData(options.userData) }),
    ...(options.configDrive !== undefined && {
      configDrive: options.configDrive === true ? 'openstack' : options.configDrive,
    }),
    ...(options.description !== undefined && { description: options.description }),
    ...(options.stopGrace !== undefined && {
      stopGraceSeconds: parseInteger(options.stopGrace, '--stop-grace', 0, 600),
    }),
    ...(options.restartPolicy !== undefined && { restartPolicy: options.restartPolicy }),
    ...machineBody(options),
    ...(options.share && { shares: options.share.map(parseShare) }),
    ...(options.maxVcpus !== undefined && { maxVcpus: parseInteger(options.maxVcpus, '--max-vcpus', 1, 255) }),
    ...(options.maxMemory !== undefined && { maxMemoryBytes: parseSize(options.maxMemory, '--max-memory') }),
    ...(options.vmm !== undefined && { vmm: options.vmm }),
    ...(options.tag && { tags: given(options.tag) }),
    ...(options.meta && { metadata: parseMetadata(options.meta) }),
    ...(options.protected === true && { protected: true }),
    ...(options.host !== undefined && { host: await context.resolve('host', options.host) }),
  };
};
