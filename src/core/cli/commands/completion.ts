/** Shells that `vcctl completion` has a script for. */
export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** What `__complete` prints instead of candidates where a file is meant. */
export const filesMark = ':files';

/**
 * A script that asks the program itself, so that it knows the commands as they are and the names that the server has.
 * Candidates come one per line; a name with blanks is quoted as the shell wants it.
 */
export const completionScript = (name: string, shell: Shell): string => {
  if (shell === 'fish') {
    return `function __${name}_complete
  set -l words (commandline -opc) (commandline -ct)
  set -e words[1]
  set -l found (${name} __complete -- $words 2>/dev/null)
  if test (count $found) -gt 0 -a "$found[1]" = "${filesMark}"
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $found
  end
end
complete -c ${name} -f -a '(__${name}_complete)'
`;
  }
  if (shell === 'zsh') {
    return `#compdef ${name}
_${name}() {
  local -a found
  found=("\${(@f)$("$words[1]" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ "$found[1]" == "${filesMark}" ]]; then
    _files
  else
    compadd -- "\${(@)found:#}"
  fi
}
compdef _${name} ${name}
`;
  }
  return `_${name}() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" line
  COMPREPLY=()
  while IFS= read -r line; do
    if [ "$line" = "${filesMark}" ]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$cur")
      return
    fi
    COMPREPLY+=("$(printf '%q' "$line")")
  done < <("$1" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _${name} ${name}
`;
};
