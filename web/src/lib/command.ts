/** One word of a command, as a POSIX shell reads it back. */
const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** Options of a command: a value, several, `true` for a bare option; what is empty, false or undefined is left out. */
export type Options = Record<string, string | readonly string[] | boolean | undefined>;

/**
 * The `vcctl` line that does what a form does.
 * @param words noun, verb and arguments, e.g. `['network', 'create', 'n1']`
 */
export const vcctl = (words: readonly string[], options: Options = {}): string => {
  const given = Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined || value === false || value === '') return [];
    if (value === true) return [`--${name}`];
    return (typeof value === 'string' ? [value] : value).map((one) => `--${name} ${quoted(one)}`);
  });
  return ['vcctl', ...words.map(quoted), ...given].join(' ');
};
