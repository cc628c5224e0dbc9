import { chown, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Config } from '../../../src/core/config/config';
import { coreConfigSchema } from '../../../src/core/config/core-config';
import { computeConfigSchema } from '../../../src/modules/compute/contract/compute.config';
import { HostShares } from '../../../src/modules/compute/node/shares/host-shares';

const owner = 1_950_000_001;
const [own, other] = [randomUUID(), randomUUID()];

describe('the directories of a host that instances may mount', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await realpath(await mkdtemp('/tmp/t-shares-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const made = async (name: string, user = owner, group = owner): Promise<string> => {
    const path = join(directory, name);
    await mkdir(path, { recursive: true });
    await chown(path, user, group);
    return path;
  };
  const sharesOf = (shares: object[]): HostShares =>
    new HostShares(
      new Config(
        coreConfigSchema.parse({
          stateDir: join(directory, 'state'),
          runDir: join(directory, 'run'),
          sandbox: { firstUser: 1_960_000_000 },
        }),
        { compute: computeConfigSchema.parse({ shares }) },
      ),
    );
  const reason = async (path: string): Promise<string | undefined> =>
    (await sharesOf([{ name: 'media', path }]).inventory())[0]?.reason;

  it('are those that belong to a user, and the others with the reason', async () => {
    expect(await reason(await made('media'))).toBe('');
    expect(await reason(join(directory, 'none'))).toBe('it is not there');
    expect(await reason(await made('of-root', 0))).toMatch(/^it belongs to root/);
    expect(await reason(await made('of-roots-group', owner, 0))).toMatch(/^its group is that of root/);
    expect(await reason(await made('of-an-instance', 1_960_000_016))).toBe(
      'it belongs to a user of the product itself',
    );
    await writeFile(join(directory, 'file'), '');
    expect(await reason(join(directory, 'file'))).toBe('it is no directory');
    await symlink(join(directory, 'media'), join(directory, 'link'));
    expect(await reason(join(directory, 'link'))).toBe('there is a symbolic link in its path');
    await made('media/inner');
    expect(await reason(join(directory, 'link/inner'))).toBe('there is a symbolic link in its path');
  });

  it('are neither the product’s own, nor the system’s, nor what holds those, and are named in one way', async () => {
    for (const path of [
      await made('state/management/postgres'),
      await made('state'),
      await made('run/c'),
      directory,
      '/',
      '/proc/self',
      '/dev/shm',
      '/sys',
    ])
      expect(await reason(path)).toBe('it is, or holds, what is not to be shared');
    expect(await reason(await made('state-of-others'))).toBe('');
    for (const path of [`${directory}/media/`, `${directory}//media`, `${directory}/x/../media`])
      expect(await reason(path)).toBe('its path is not in its shortest form');
  });

  it('are given to the projects that are named, in the way that is said, as they are at that moment', async () => {
    const path = await made('media', owner, owner + 1);
    const shares = sharesOf([
      { name: 'media', path, projects: [own] },
      { name: 'docs', path: await made('docs'), projects: [own], readonly: true },
      { name: 'none', path: await made('none') },
    ]);
    const ask = (share: string, readonly = false, projectId = own) =>
      shares.of({ projectId, wanted: [{ share, readonly }] });
    expect(await shares.of(undefined)).toEqual([]);
    expect(await ask('media')).toEqual([{ tag: 'media', path, readonly: false, user: owner, group: owner + 1 }]);
    expect(await ask('media', true)).toMatchObject([{ readonly: true }]);
    expect(await ask('docs', true)).toMatchObject([{ tag: 'docs', readonly: true }]);
    const refusal = { code: 'no_such_share', permanent: true };
    await expect(ask('docs')).rejects.toMatchObject(refusal);
    await expect(ask('media', true, other)).rejects.toMatchObject(refusal);
    await expect(ask('none', true)).rejects.toMatchObject(refusal);
    await expect(ask('../media', true)).rejects.toMatchObject(refusal);
    await rm(path, { recursive: true });
    await expect(ask('media')).rejects.toMatchObject({ code: 'share_unusable', permanent: false });
    await symlink(join(directory, 'docs'), path);
    await expect(ask('media')).rejects.toMatchObject({ code: 'share_unusable' });
  });

  it.each([
    [{ name: 'media', path: 'srv/media' }],
    [{ name: 'Media', path: '/srv/media' }],
    [{ name: 'a/b', path: '/srv/media' }],
    [{ name: 'media', path: '/srv/media', projects: ['default'] }],
  ])('are not configured as %j', (share) =>
    expect(computeConfigSchema.safeParse({ shares: [share] }).success).toBe(false),
  );

  it('have a name each', () => {
    const share = { name: 'media', path: '/srv/media' };
    expect(computeConfigSchema.safeParse({ shares: [share, { ...share, path: '/srv/other' }] }).success).toBe(false);
  });
});
