import type { Command } from 'commander';
import type { CliContext, Outcome } from '../../../core/cli/cli-context';
import { usageFailure } from '../../../core/cli/cli-failure';
import type { Volume } from '../../storage/contract/storage.api';

/** `instance attach-volume` and `instance detach-volume`: disks, also while it runs. */
export const registerInstanceVolumes = (instance: Command, context: CliContext): void => {
  instance
    .command('attach-volume')
    .description('one disk more, at once while it runs')
    .argument('<instance>', 'name or id')
    .argument('<volume>', 'name or id, of the same host')
    .option('--readonly', 'its guest cannot write to it')
    .option('-w, --wait', 'return when the disk is there')
    .addHelpText(
      'after',
      "\nThe guest finds the disk by its serial number, the first 20 hexadecimal digits of the volume's id:\n/dev/disk/by-id/virtio-… . What is done with it (a file system, say) is the guest's own affair.\n\nExamples:\n  vcctl volume create data --size 10GiB --instance web --wait\n  vcctl instance attach-volume web data --wait",
    )
    .action(async (ref: string, volume: string, options: { readonly?: boolean; wait?: boolean }) => {
      const asked = await context.request('post', '/instances/{ref}/volumes', {
        path: { ref: await context.resolve('instance', ref) },
        query: { project: context.project() },
        body: { volume: await context.resolve('volume', volume), ...(options.readonly === true && { readonly: true }) },
      });
      if (options.wait !== true) {
        context.report({ text: `instance ${ref}: attach-volume accepted (task ${asked.taskId})`, object: asked });
        return;
      }
      await context.follow(asked.taskId);
      context.report({
        text: `volume ${volume} attached to ${ref}`,
        object: await context.get<Volume>('volume', asked.volumeId),
      });
    });
  instance
    .command('detach-volume')
    .description('one disk less: its guest lets it go first; the volume stays')
    .argument('<instance>', 'name or id')
    .argument('<volume...>', 'names or ids of its volumes')
    .option('-w, --wait', 'return when it is gone; with several volumes one goes after the other')
    .addHelpText(
      'after',
      '\nUnmount it in the guest first.\n\nExamples:\n  vcctl instance detach-volume web data --wait',
    )
    .action(async (ref: string, volumes: string[], options: { wait?: boolean }) => {
      if (volumes.length > 1 && options.wait !== true)
        throw usageFailure('Several volumes go one after the other: say --wait.');
      const path = { ref: await context.resolve('instance', ref) };
      await context.each(volumes, async (volume): Promise<Outcome> => {
        const asked = await context.request('delete', '/instances/{ref}/volumes/{volume}', {
          path: { ...path, volume: await context.resolve('volume', volume) },
          query: { project: context.project() },
        });
        if (options.wait !== true)
          return { text: `instance ${ref}: detach-volume accepted (task ${asked.taskId})`, object: asked };
        await context.follow(asked.taskId);
        return { text: `volume ${volume} detached from ${ref}`, object: asked };
      });
    });
};
