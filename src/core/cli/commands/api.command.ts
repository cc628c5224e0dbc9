import { Argument, type Command } from 'commander';
import { choice } from '../input/choice';
import type { Method } from '../../../rest/rest-call';
import { usageFailure } from '../cli-failure';
import type { TerminalContext } from '../terminal-context';

const methods: readonly Uppercase<Method>[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];

interface ApiOptions {
  data?: string;
  query?: string[];
  idempotencyKey?: string;
}

/**
 * `api`: any call of the REST API with the profile's credential, for what has no command of its own and for scripts.
 */
export const registerApi = (program: Command, context: TerminalContext): void => {
  program
    .command('api')
    .description('call the REST API as it is and print the answer')
    .addArgument(choice(new Argument('<method>', methods.join(', ')), methods))
    .argument('<path>', 'below /api/v1, e.g. /instances')
    .option('--data <json>', 'the body: JSON, @file, or - for standard input')
    .option('--query <name=value>', 'a member of the query; may be repeated', collect)
    .option('--idempotency-key <key>', 'a repeated call with this key is answered and not done again')
    .addHelpText(
      'after',
      '\nThe document of the API is at /api/docs of the server.\n\nExamples:\n  vcctl api GET /instances --query state=running\n  vcctl api POST /networks --query project=web --data \'{"name":"n2","subnet":"10.20.0.0/24"}\'\n  vcctl api GET /openapi.json -o \'jsonpath=$.info.version\'',
    )
    .action(async (method: Uppercase<Method>, path: string, options: ApiOptions) => {
      const body = options.data === undefined ? undefined : parseJson(await dataOf(options.data));
      const answer = await context.requestAt<object | undefined>(method, pathBelow(path), {
        ...(body !== undefined && { body }),
        query: queryOf(options.query ?? []),
        ...(options.idempotencyKey !== undefined && { idempotencyKey: options.idempotencyKey }),
      });
      if (answer !== undefined) context.printText(answer, () => `${JSON.stringify(answer, null, 2)}\n`);
    });
};

/** `instances`, `/instances` and `/api/v1/instances` are the same. */
const pathBelow = (path: string): string => {
  const below = path.replace(/^\/?(api\/v1(?=\/|$))?\/?/, '/');
  if (/^\w+:\/\//.test(path)) throw usageFailure('<path>: name a path, not an address; the profile says which server');
  return below;
};

const queryOf = (members: string[]): Record<string, string> =>
  Object.fromEntries(
    members.map((member) => {
      const at = member.indexOf('=');
      if (at <= 0) throw usageFailure(`--query: "${member}" is not name=value`);
      return [member.slice(0, at), member.slice(at + 1)];
    }),
  );

const dataOf = async (data: string): Promise<string> => {
  if (data !== '-' && !data.startsWith('@')) return data;
  const { readFile } = await import('node:fs/promises');
  const file = data === '-' ? '/dev/stdin' : data.slice(1);
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw usageFailure(error.code === 'ENOENT' ? `--data: there is no file ${file}` : `--data: ${error.message}`);
  });
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageFailure(`--data: not JSON: ${(error as Error).message}`);
  }
};
