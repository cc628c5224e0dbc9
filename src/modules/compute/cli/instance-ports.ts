import type { Command } from 'commander';
import type { CliContext, Outcome } from '../../../core/cli/cli-context';
import { usageFailure } from '../../../core/cli/cli-failure';
import type { Instance } from '../contract/compute.api';
import { instanceView } from './instance-view';

interface AttachOptions {
  network: string;
  address?: string;
  securityGroup?: string[];
  wait?: boolean;
}

const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];

/** `instance attach-port` and `instance detach-port`: network cards, also while it runs. */
export const registerInstancePorts = (instance: Command, context: CliContext): void => {
  instance
    .command('attach-port')
    .description('one network card more, at once while it runs')
    .argument('<instance>', 'name or id')
    .requiredOption('--network <network>', 'the network to join')
    .option('--address <IPv4>', 'an address of it; the next free one when missing')
    .option('--security-group <security-group>', 'name or id; may be repeated; `default` when missing', collect)
    .option('-w, --wait', 'return when the card is there')
    .addHelpText(
      'after',
      '\nThe guest sees the card at once; that it uses it (DHCP, say) is its own affair.\n\nExamples:\n  vcctl instance attach-port web --network backend --wait\n  vcctl instance attach-port web --network backend --address 10.20.0.7',
    )
    .action(async (ref: string, options: AttachOptions) => {
      const asked = await context.request('post', '/instances/{ref}/ports', {
        path: { ref: await context.resolve('instance', ref) },
        query: { project: context.project() },
        body: {
          network: options.network,
          ...(options.address !== undefined && { address: options.address }),
          ...(options.securityGroup && { securityGroups: options.securityGroup }),
        },
      });
      if (options.wait !== true) {
        context.report({ text: `instance ${ref}: attach-port accepted (task ${asked.taskId})`, object: asked });
        return;
      }
      await context.follow(asked.taskId);
      context.show(
        await context.request('get', '/instances/{ref}', { path: { ref: asked.instance.id } }),
        instanceView(),
      );
    });
  instance
    .command('detach-port')
    .description('one network card less: its guest lets it go first, then its address is free')
    .argument('<instance>', 'name or id')
    .argument('<port...>', 'addresses or ids of its ports')
    .option('-w, --wait', 'return when it is gone; with several ports one goes after the other')
    .addHelpText('after', '\nExamples:\n  vcctl instance detach-port web 10.20.0.7 --wait')
    .action(async (ref: string, ports: string[], options: { wait?: boolean }) => {
      if (ports.length > 1 && options.wait !== true)
        throw usageFailure('Several ports go one after the other: say --wait.');
      const found = await context.get<Instance>('instance', ref);
      await context.each(ports, async (wanted): Promise<Outcome> => {
        const port = found.ports.find(({ id, address }) => id === wanted || address === wanted);
        if (!port) throw usageFailure(`"${wanted}" is neither an address nor the id of a port of ${found.name}`);
        const asked = await context.request('delete', '/instances/{ref}/ports/{port}', {
          path: { ref: found.id, port: port.id },
          query: { project: context.project() },
        });
        if (options.wait !== true)
          return { text: `instance ${ref}: detach-port accepted (task ${asked.taskId})`, object: asked };
        await context.follow(asked.taskId);
        return { text: `port ${port.address} detached from ${ref}`, object: port };
      });
    });
};
