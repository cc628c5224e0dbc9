import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { completionScript } from './completion';

describe('completion in bash', () => {
  let directory: string;

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'vcs-completion-'));
    writeFileSync(join(directory, 'completion.bash'), completionScript('vcctl', 'bash'));
    // Stands for the program: says what it was asked, and what it was told to offer.
    writeFileSync(join(directory, 'vcctl'), `#!/bin/bash\nprintf '<%s>' "$@" > "$ASKED"\nprintf '%s\\n' "$OFFERED"\n`, {
      mode: 0o755,
    });
    writeFileSync(join(directory, 'disk.img'), '');
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  const complete = (words: string[], offered: string): { asked: string; replies: string[] } => {
    const script = `source ./completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "$(complete -p vcctl | sed 's/.*-F \\([^ ]*\\).*/\\1/')" vcctl; printf '%s\\n' "\${COMPREPLY[@]}"; cat "$ASKED"`;
    const out = execFileSync('bash', ['--norc', '--noprofile', '-c', script, 'bash', ...words], {
      cwd: directory,
      env: { PATH: `${directory}:${process.env['PATH'] ?? ''}`, ASKED: join(directory, 'asked'), OFFERED: offered },
    }).toString();
    const lines = out.split('\n');
    return { asked: lines.pop() ?? '', replies: lines };
  };

  it('asks the program with the words up to the cursor, and quotes names with blanks', () => {
    expect(complete(['vcctl', 'instance', 'show', 'F'], 'Front Door\nFallback')).toEqual({
      asked: '<__complete><--><instance><show><F>',
      replies: ['Front\\ Door', 'Fallback'],
    });
  });

  it('completes files where the program says that one is meant', () => {
    expect(complete(['vcctl', 'image', 'upload', 'x', 'di'], ':files').replies).toEqual(['disk.img']);
  });
});
