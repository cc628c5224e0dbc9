import { StringDecoder } from 'node:string_decoder';
import { CliFailure, exitCodes } from '../cli-failure';

/** Secrets and answers of a line are not longer. */
const maxLine = 4096;

const interrupted = (): CliFailure =>
  new CliFailure('interrupted', { exitCode: 130, code: 'interrupted', silent: true });

/** Asks on standard error and reads one line of the terminal. With `hidden` nothing of it is shown. */
export const ask = (question: string, options: { hidden?: boolean } = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    const { stdin, stderr } = process;
    const decoder = new StringDecoder('utf8');
    let line = '';
    const finish = (settle: () => void): void => {
      stdin.off('data', onData);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write('\n');
      settle();
    };
    const onData = (chunk: Buffer): void => {
      for (const char of decoder.write(chunk)) {
        if (char === '\r' || char === '\n') return finish(() => resolve(line));
        if (char === '\u0003' || (char === '\u0004' && line === '')) return finish(() => reject(interrupted()));
        if (char === '\u007f' || char === '\b') {
          if (line !== '' && !options.hidden) stderr.write('\b \b');
          line = [...line].slice(0, -1).join('');
        } else if (char >= ' ' && line.length < maxLine) {
          line += char;
          if (!options.hidden) stderr.write(char);
        }
      }
    };
    // First: what is typed as soon as the question is seen must not be shown by the terminal itself.
    stdin.setRawMode(true);
    stderr.write(question);
    stdin.resume();
    stdin.on('data', onData);
  });

/** True for `y` or `yes`. */
export const confirm = async (question: string): Promise<boolean> =>
  /^y(es)?$/i.test((await ask(`${question} [y/N] `)).trim());

/** The first line of standard input, without its end; for secrets that come through a pipe. */
export const readLine = async (): Promise<string> => {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of process.stdin as AsyncIterable<Buffer>) {
    size += part.length;
    parts.push(part);
    if (size > maxLine)
      throw new CliFailure('standard input is too long for a password or token', {
        exitCode: exitCodes.usage,
        code: 'usage',
      });
  }
  return (Buffer.concat(parts).toString('utf8').split('\n')[0] ?? '').replace(/\r$/, '');
};

/** `CliFailure` unless somebody sits at a terminal. `instead` says how to do without. */
export const requireTerminal = (instead: string): void => {
  if (!process.stdin.isTTY)
    throw new CliFailure(`There is no terminal to ask at. ${instead}`, { exitCode: exitCodes.usage, code: 'usage' });
};
