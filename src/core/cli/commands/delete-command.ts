import type { Command } from 'commander';
import type { CliContext } from '../cli-context';
import { words, type Noun } from '../noun';

export interface DeleteText {
  description: string;
  /** Asked with the references in place of `%`. */
  question?: string;
  /** Answers with a task, which `--wait` follows. */
  task?: boolean;
  examples?: string;
}

/** What DELETE answers: nothing, or the task that does it. */
type Deleted = { taskId?: string | null } | undefined;

/** `<noun> delete`, the same for every noun: asks first, goes on after one that fails. */
export const addDelete = (parent: Command, context: CliContext, noun: Noun, text: DeleteText): Command => {
  const command = parent
    .command('delete')
    .description(text.description)
    .argument(`<${noun.name}...>`, noun.nameless ? 'ids' : 'names or ids')
    .option('-y, --yes', 'do not ask; without a terminal it must be given');
  if (text.task) command.option('-w, --wait', 'return when they are gone');
  if (text.examples) command.addHelpText('after', text.examples);
  return command.action(async (refs: string[], options: { yes?: boolean; wait?: boolean }) => {
    if (
      !(await context.confirm(
        (text.question ?? 'Delete %?').replace('%', () => refs.join(', ')),
        options.yes,
      ))
    )
      return;
    await context.each(refs, async (ref) => {
      const answer = await context.requestAt<Deleted>(
        'DELETE',
        await context.pathOf(noun.name, ref),
        noun.inProject ? { query: { project: context.project() } } : {},
      );
      const taskId = answer?.taskId ?? null;
      if (options.wait && taskId !== null) await context.follow(taskId);
      const gone = options.wait === true || taskId === null;
      return {
        text: gone ? `${words(noun)} ${ref} deleted` : `${words(noun)} ${ref}: delete accepted (task ${taskId})`,
        object: {
          noun: noun.name,
          name: ref,
          result: gone ? 'deleted' : 'accepted',
          ...(taskId !== null && { taskId }),
        },
      };
    });
  });
};
