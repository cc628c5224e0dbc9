import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import { addListOptions, type ListOptions } from '../../../core/cli/input/list-options';
import type { CliColumn } from '../../../core/cli/output/cli-column';
import type { Share } from '../contract/compute.api';

const columns: CliColumn<Share>[] = [
  { header: 'name', value: (s) => s.name },
  { header: 'read-only', value: (s) => (s.readonly ? 'yes' : 'no'), raw: (s) => s.readonly },
  {
    header: 'hosts',
    value: (s) => (s.hosts ?? []).map((h) => (h.readonly && !s.readonly ? `${h.name} (read-only)` : h.name)).join(', '),
  },
];

export class ShareCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const share = program.command('share').alias('shares').description('directories of hosts that instances can mount');
    addListOptions(share.command('list').description('list the shares that instances of the project can have'))
      .addHelpText(
        'after',
        '\nA guest mounts one that its instance has: mount -t virtiofs <name> /mnt (see: instance create --share).',
      )
      .action((options: ListOptions) =>
        context.printList(
          (search) => context.list('/shares', { query: { project: context.project(), ...search } }),
          columns,
          options,
        ),
      );
  }
}
