import type { CliContext } from '../cli-context';
import { CliFailure } from '../cli-failure';
import { itemsOf } from './ref-resolver';

/**
 * Names of the noun's objects by id, for lists that refer to them. Empty where the user may not see them: ids are shown
 * then.
 */
export const namesById = async (
  context: Pick<CliContext, 'listAt' | 'project' | 'noun'>,
  noun: string,
): Promise<Map<string, string>> => {
  try {
    return new Map(
      (await itemsOf<{ id: string; name: string }>(context, context.noun(noun))).map((item) => [item.id, item.name]),
    );
  } catch (error) {
    if (error instanceof CliFailure && error.code === 'forbidden') return new Map();
    throw error;
  }
};

/** The names of the projects that the user sees, by id. */
export const projectNames = async (context: Pick<CliContext, 'request'>): Promise<Map<string, string>> => {
  const { projects } = await context.request('get', '/whoami');
  return new Map(projects.map((project) => [project.id, project.name]));
};
