import type { Command } from 'commander';

const camel = (name: string): string => name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** What a member may be called on the command line: `memoryBytes` → memory, `sshKeys` → key. */
const namesOf = (field: string): string[] => {
  const bare = field.replace(/(Bytes|Seconds)$/, '');
  const single = bare.replace(/s$/, '');
  const last = /[A-Z][a-z]+$/.exec(single)?.[0].toLowerCase();
  return [field, bare, single, ...(last ? [last] : [])];
};

/** `body.memoryBytes` → `--memory`: what the user typed, as far as the command has an option or argument for it. */
export const fieldLabel = (path: string, command?: Command): string => {
  const segments = path.replace(/^(body|query|params)\.?/, '').split('.');
  const fields = segments.filter((segment) => !/^\d+$/.test(segment));
  for (const field of [...fields].reverse()) {
    for (const name of namesOf(field)) {
      const option = command?.options.find((o) => o.attributeName() === name);
      if (option?.long) return option.long;
      const argument = command?.registeredArguments.find((a) => camel(a.name()) === name);
      if (argument) return `<${argument.name()}>`;
    }
  }
  return segments.join('.') || path;
};
