import type { Command } from 'commander';

interface Node {
  /** Words from the program's name to the command. */
  path: string;
  words: string[];
}

const nodesOf = (command: Command, path: string, inherited: string[]): Node[] => {
  const options = [...inherited, ...command.options.filter((o) => !o.hidden).flatMap((o) => (o.long ? [o.long] : []))];
  const children = command.commands;
  return [{ path, words: [...children.map((c) => c.name()), ...options] }, ...children.flatMap((child) => nodesOf(child, `${path} ${child.name()}`, options))];
};

/** A completion script made of the commands as they are; for zsh through its own bash compatibility. */
export const completionScript = (program: Command, shell: 'bash' | 'zsh'): string => {
  const name = program.name();
  const nodes = nodesOf(program, name, []);
  const cases = nodes.map((node) => `    "${node.path}") words="${node.words.join(' ')}" ;;`).join('\n');
  const known = nodes.map((node) => `"${node.path}"`).join('|');
  const script = `_${name}() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" path="${name}" words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path \${COMP_WORDS[i]}" in
      ${known}) path="$path \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$path" in
${cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$cur"))
}
complete -o filenames -F _${name} ${name}
`;
  return shell === 'zsh' ? `autoload -U +X bashcompinit && bashcompinit\n${script}` : script;
};
