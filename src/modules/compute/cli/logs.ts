import { setTimeout as pause } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import type { CliContext } from '../../../core/cli/cli-context';

const everyMs = 1_000;

interface ConsoleLog {
  text: string;
  cursor: string;
  truncated: boolean;
}

export interface LogOptions {
  follow: boolean;
  /** Only so many of the last lines. */
  lines?: number;
}

/** A guest's output for a terminal: its colours and cursor moves were meant for another screen. */
const forTerminal = (text: string): string => stripVTControlCharacters(text).replace(/[^\P{Cc}\n\t]/gu, '');

const lastLines = (text: string, count: number): string => {
  const lines = text.split('\n');
  const unfinished = lines.at(-1) === '' ? 1 : 0;
  return lines.slice(-(count + unfinished)).join('\n');
};

/**
 * Prints what the guest wrote on its serial console, and with `follow` goes on until interrupted. For programs as REST
 * has it.
 */
export const showLogs = async (context: CliContext, ref: string, { follow, lines }: LogOptions): Promise<void> => {
  const read = (since?: string): Promise<ConsoleLog> =>
    context.request('get', '/instances/{ref}/console-log', {
      path: { ref },
      query: { project: context.project(), since },
    });
  const print = (log: ConsoleLog): void =>
    context.printText(log, () => (process.stdout.isTTY ? forTerminal(log.text) : log.text));
  let log = await read();
  if (log.truncated && lines === undefined) context.info('What came before is not kept any more.');
  print(lines === undefined ? log : { ...log, text: lastLines(log.text, lines) });
  while (follow) {
    await pause(everyMs);
    log = await read(log.cursor);
    if (log.truncated)
      context.info('[something is missing here: more came than is kept, or the agent on the host was started anew]');
    if (log.text !== '') print(log);
  }
};
