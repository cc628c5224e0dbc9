import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sh, TestNamespaces } from '../../support/namespaces';
import { repositoryRoot } from '../../support/repository';

/** An address of the public Internet, which here is on the loopback device of a namespace that leads nowhere. */
const publicAddress = '93.184.216.34';

describe('a server on the Internet that redirects to what only management reaches', () => {
  const directory = mkdtempSync(join(tmpdir(), 'vcs-redirect-'));
  const namespaces = new TestNamespaces('t-redirect');
  afterAll(() => {
    namespaces.close();
    rmSync(directory, { recursive: true });
  });

  it('gets management to ask nothing there', () => {
    const name = namespaces.add('net');
    sh('ip', '-n', name, 'addr', 'add', `${publicAddress}/32`, 'dev', 'lo');
    const told = namespaces.run(
      name,
      process.execPath,
      '-r',
      join(repositoryRoot, 'test/support/ts-register.js'),
      join(__dirname, 'public-server.ts'),
      publicAddress,
      join(directory, 'file'),
    );
    expect(
      told
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      ['public', 'done', 0],
      ['loopback', 'url_not_allowed', 0],
      ['by name', 'url_not_allowed', 0],
      ['mapped address', 'url_not_allowed', 0],
      ['twice redirected', 'url_not_allowed', 0],
    ]);
  });
});
