import type { Command } from 'commander';
import type { CliContext } from '../../../core/cli/cli-context';
import { usageFailure } from '../../../core/cli/cli-failure';
import { formatBytes, formatTime } from '../../../core/cli/output/format';
import { fact, type Section } from '../../../core/cli/output/sections';
import type { Leftover, LeftoverListing } from '../contract/leftover';

/** As people name one. */
const nameOf = ({ kind, name }: Pick<Leftover, 'kind' | 'name'>): string => `${kind}:${name}`;

const none = 'Nothing on it belongs to nothing.';

const leftoversView = ({ leftovers, truncated, failed, scannedAt }: LeftoverListing): Section[] => [
  {
    facts: [
      fact('Looked at', formatTime(scannedAt)),
      ...(truncated ? [fact('More', 'there are more than are listed', 'bad')] : []),
      ...(failed.length > 0 ? [fact('Not looked at', failed.join(', '), 'bad')] : []),
    ],
  },
  {
    title: 'Leftovers',
    headers: ['leftover', 'of', 'since', 'size', 'holds'],
    rows: leftovers.map((one) => [
      nameOf(one),
      one.owner === null ? '' : one.ownerId === null ? one.owner : `${one.owner} ${one.ownerId}`,
      one.since === null ? '' : formatTime(one.since),
      one.bytes === null ? '' : formatBytes(one.bytes),
      one.holds.join(', '),
    ]),
    none,
  },
];

/** `host leftovers` and `host remove-leftovers`: what lies on a host and belongs to nothing. */
export const registerHostLeftovers = (host: Command, context: CliContext): void => {
  host
    .command('leftovers')
    .description('look for what lies on a host and belongs to nothing: neither its agent nor management knows it')
    .argument('<host>', 'name or id')
    .addHelpText('after', '\nExamples:\n  vcctl host leftovers h1')
    .action(async (ref: string) =>
      context.show(await listOf(context, await context.resolve('host', ref)), leftoversView),
    );
  host
    .command('remove-leftovers')
    .description('remove leftovers of a host, exactly as they are listed now')
    .argument('<host>', 'name or id')
    .argument('<leftover...>', 'as `host leftovers` lists them')
    .option('-y, --yes', 'do not ask; without a terminal it must be given')
    .option('-w, --wait', 'return when they are gone')
    .addHelpText(
      'after',
      '\nProcesses are ended and files are gone for good. What belongs to something by then is refused.\n\nExamples:\n  vcctl host remove-leftovers h1 network-link:l1f0e2d3c4b5a69 --wait',
    )
    .action(async (ref: string, wanted: string[], options: { yes?: boolean; wait?: boolean }) => {
      if (!(await context.confirm(`Remove ${wanted.join(', ')} from ${ref}, for good?`, options.yes))) return;
      const id = await context.resolve('host', ref);
      const { leftovers } = await listOf(context, id);
      const confirmed = wanted.map((name) => {
        const found = leftovers.find((one) => nameOf(one) === name);
        if (!found) throw usageFailure(`there is no leftover "${name}" on ${ref}`);
        const { kind, mark } = found;
        return { kind, name: found.name, mark };
      });
      const task = await context.request('post', '/hosts/{ref}/actions/remove-leftovers', {
        path: { ref: id },
        body: { leftovers: confirmed },
      });
      if (options.wait) await context.follow(task.taskId);
      context.report({
        text: `host ${ref}: leftovers ${options.wait ? 'are gone' : `are being removed (task ${task.taskId})`}`,
        object: task,
      });
    });
};

const listOf = (context: CliContext, id: string): Promise<LeftoverListing> =>
  context.request('get', '/hosts/{ref}/leftovers', { path: { ref: id } });
