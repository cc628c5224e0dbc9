import { writeFile } from 'node:fs/promises';
import type { CliContext } from '../../../core/cli/cli-context';
import { usageFailure } from '../../../core/cli/cli-failure';

/** Writes a picture of the instance's screen to `file`, or to standard output, but not onto a terminal. */
export const takeScreenshot = async (context: CliContext, ref: string, file: string | undefined): Promise<void> => {
  if (file === undefined && process.stdout.isTTY)
    throw usageFailure('a picture is nothing for a terminal: name a --file');
  const png = await context.download(
    '/instances/{ref}/screenshot',
    { ref: await context.resolve('instance', ref) },
    { project: context.project() },
  );
  if (file === undefined) {
    await new Promise<void>((resolve, reject) =>
      process.stdout.write(png, (error) => (error ? reject(error) : resolve())),
    );
    return;
  }
  await writeFile(file, png).catch((error: NodeJS.ErrnoException) => {
    throw usageFailure(`${file}: ${error.message}`);
  });
  context.report({ text: `the screen of ${ref} is in ${file}`, object: { file, bytes: png.length } });
};
