import type { Command } from 'commander';
import type { CliContext } from '../../../core/cli/cli-context';

/** Booting from a temporary disk, and back. */
export const registerInstanceRescue = (instance: Command, context: CliContext): void => {
  instance
    .command('rescue')
    .description('boot a stopped instance from a temporary disk of an image; its own disk is the second one')
    .argument('<instance>', 'name or id')
    .requiredOption('--image <image>', 'what the temporary disk holds: best another one than its own')
    .option('-w, --wait', 'return when it runs')
    .addHelpText(
      'after',
      '\nExamples:\n  vcctl instance rescue web --image debian-13 --wait && vcctl instance console web\n  vcctl instance unrescue web --wait && vcctl instance start web',
    )
    .action(async (ref: string, options: { image: string; wait?: boolean }) => {
      const asked = await context.request('post', '/instances/{ref}/actions/rescue', {
        path: { ref: await context.resolve('instance', ref) },
        query: { project: context.project() },
        body: { image: await context.resolve('image', options.image) },
      });
      if (options.wait) await context.follow(asked.taskId);
      context.report({
        text: options.wait
          ? `instance ${ref} runs in rescue: its own disk is the second one`
          : `instance ${ref}: rescue accepted (task ${asked.taskId})`,
        object: asked,
      });
    });
  instance
    .command('unrescue')
    .description('turn an instance in rescue off; its temporary disk goes, and its next start boots its own')
    .argument('<instance>', 'name or id')
    .option('-w, --wait', 'return when it is off')
    .addHelpText('after', '\nExamples:\n  vcctl instance unrescue web --wait && vcctl instance start web')
    .action(async (ref: string, options: { wait?: boolean }) => {
      const asked = await context.request('post', '/instances/{ref}/actions/unrescue', {
        path: { ref: await context.resolve('instance', ref) },
        query: { project: context.project() },
      });
      if (options.wait) await context.follow(asked.taskId);
      context.report({
        text: options.wait
          ? `instance ${ref} is out of rescue: start it`
          : `instance ${ref}: unrescue accepted (task ${asked.taskId})`,
        object: asked,
      });
    });
};
