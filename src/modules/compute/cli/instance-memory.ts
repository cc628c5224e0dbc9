import type { Command } from 'commander';
import type { CliContext } from '../../../core/cli/cli-context';
import { parseSize } from '../../../core/cli/input/parse-size';
import { formatBytes, moment } from '../../../core/cli/output/format';
import { fact, type Section } from '../../../core/cli/output/sections';
import type { InstanceMemory } from '../contract/compute.api';

const mebibyte = 1024 * 1024;

const memoryView = ({ memoryBytes, targetBytes, heldBytes, guest }: InstanceMemory): Section[] => [
  {
    facts: [
      fact('Memory', formatBytes(memoryBytes)),
      fact('Asked to keep', targetBytes === null ? 'all' : formatBytes(targetBytes)),
      fact('Keeps', formatBytes(heldBytes)),
      ...(guest === null
        ? [fact('Its guest says', 'nothing')]
        : [
            fact('Used', formatBytes(guest.totalBytes - guest.availableBytes)),
            fact('Available', formatBytes(guest.availableBytes)),
            fact('Free', formatBytes(guest.freeBytes)),
            fact('Said', moment(guest.at)),
          ]),
    ],
  },
];

/** What its guest has of its memory, and is to keep. */
export const registerInstanceMemory = (instance: Command, context: CliContext): void => {
  instance
    .command('memory')
    .description('show what the guest of an instance with a balloon has of its memory, and says of it')
    .argument('<instance>', 'name or id')
    .addHelpText('after', '\nExamples:\n  vcctl instance memory web')
    .action(async (ref: string) =>
      context.show(
        await context.request('get', '/instances/{ref}/memory', {
          path: { ref: await context.resolve('instance', ref) },
          query: { project: context.project() },
        }),
        memoryView,
      ),
    );
  instance
    .command('balloon')
    .description('have the guest keep so much of its memory while it runs; the rest goes to its host')
    .argument('<instance>', 'name or id')
    .requiredOption('--memory <size>', 'that it keeps: a quarter of its memory at least, or all')
    .option('-w, --wait', 'return when it has done it')
    .addHelpText(
      'after',
      '\nIts next start gives it all of its memory.\n\nExamples:\n  vcctl instance balloon web --memory 512MiB --wait && vcctl instance memory web\n  vcctl instance balloon web --memory all --wait',
    )
    .action(async (ref: string, options: { memory: string; wait?: boolean }) => {
      const memoryBytes = options.memory === 'all' ? null : parseSize(options.memory, '--memory', { step: mebibyte });
      const asked = await context.request('post', '/instances/{ref}/actions/balloon', {
        path: { ref: await context.resolve('instance', ref) },
        query: { project: context.project() },
        body: { memoryBytes },
      });
      if (options.wait) await context.follow(asked.taskId);
      context.report({
        text: options.wait
          ? `the guest of ${ref} keeps ${memoryBytes === null ? 'all of its memory' : formatBytes(memoryBytes)}`
          : `instance ${ref}: balloon accepted (task ${asked.taskId})`,
        object: asked,
      });
    });
};
