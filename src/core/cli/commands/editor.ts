import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { CliFailure, exitCodes, usageFailure } from '../cli-failure';

/**
 * Lets the user change `value` as YAML in `$VISUAL`, `$EDITOR` or vi, and returns what was saved. What was written is
 * kept, and its place told, when it is not valid. Throws when the editor fails.
 */
export const editYaml = async (
  value: Record<string, unknown>,
  comments: string[],
): Promise<Record<string, unknown>> => {
  const editor = process.env['VISUAL'] || process.env['EDITOR'] || 'vi';
  const folder = await mkdtemp(join(tmpdir(), 'vcctl-'));
  const file = join(folder, 'edit.yaml');
  await writeFile(
    file,
    `${comments.map((line) => `# ${line.replace(/[\r\n]+/g, ' ')}\n`).join('')}${stringify(value)}`,
    { mode: 0o600 },
  );
  await run(editor, file);
  const text = await readFile(file, 'utf8');
  let parsed: unknown;
  try {
    parsed = parse(text);
  } catch (error) {
    throw usageFailure(`not valid YAML: ${(error as Error).message.split('\n')[0] ?? ''} (kept in ${file})`);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw usageFailure(`the text is no list of members and values (kept in ${file})`);
  await rm(folder, { recursive: true, force: true });
  return parsed as Record<string, unknown>;
};

/** The variable may hold arguments (`code --wait`): it is the user's own, and read as the shell would. */
const run = (editor: string, file: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' });
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      code === 0
        ? resolve()
        : reject(
            new CliFailure(`The editor (${editor}) ended with ${code ?? signal ?? '?'}; nothing was changed.`, {
              exitCode: exitCodes.failed,
              code: 'editor_failed',
            }),
          ),
    );
  });
