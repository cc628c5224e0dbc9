import { usageFailure } from '../../../core/cli/cli-failure';

/** `role=web` several times → the whole of it; one empty text means none. */
export const parseMetadata = (texts: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    given(texts).map((text) => {
      const at = text.indexOf('=');
      if (at < 1) throw usageFailure(`--meta: "${text}" is not <key>=<value>`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );

/** Several texts; one empty text means none. */
export const given = (texts: readonly string[]): string[] => texts.filter((text) => text !== '');
