import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import type { BodyOf } from '../../src/rest/rest-call';
import { processesNaming } from '../../src/core/host/processes/processes-naming';
import { ApiClient } from '../support/api-client';
import { guestImage, TestCloud } from '../support/cloud';
import { eventually } from '../support/eventually';
import { virtiofsd } from '../support/virtiofsd';

const minutes = 60_000;
/** Nobody's on this machine. */
const owner = 1_950_000_001;
const program = virtiofsd();

if (program === null) {
  describe('shares of real guests', () => it.skip('needs a virtiofsd', () => undefined));
} else {
  describe('shares of real guests', () => {
    let cloud: TestCloud;
    let directory = '';
    let own = '';
    let red = '';

    const config = (shares: object[]): Record<string, string> => ({
      VC_STACK_MODULES__COMPUTE__VIRTIOFSD: program,
      VC_STACK_MODULES__COMPUTE__SHARES: JSON.stringify(shares),
    });
    const made = (name: string): string => {
      const path = join(directory, name);
      mkdirSync(path, { recursive: true });
      chownSync(path, owner, owner);
      return path;
    };

    beforeAll(async () => {
      cloud = await TestCloud.start('shares', { hosts: [] });
      directory = join(cloud.directory, 'shared');
      const { items } = await cloud.api.ok('GET', '/projects');
      own = items.find(({ name }) => name === 'default')?.id ?? '';
      red = (await cloud.api.ok('POST', '/projects', { name: 'red' })).id;
      const env = config([
        { name: 'media', path: made('media'), projects: [own] },
        { name: 'docs', path: made('docs'), projects: [own], readonly: true },
        { name: 'red', path: made('red'), projects: [red] },
        { name: 'nobody', path: made('nobody') },
        { name: 'lost', path: join(directory, 'lost'), projects: [own] },
      ]);
      await cloud.addHost('h1', env);
      await cloud.hostState('h1', 'ready');
      await cloud.furnish();
    }, 3 * minutes);
    afterAll(() => cloud?.close(), 2 * minutes);

    type Wanted = BodyOf<'post', '/instances'>['shares'];
    const make = async (name: string, shares: Wanted): Promise<string> => {
      const { instance, taskId } = await cloud.create(name, { vmm: 'qemu', shares });
      await cloud.settled(taskId);
      return instance.id;
    };
    const act = async (name: string, verb: 'stop' | 'start' | 'suspend', end = 'succeeded') =>
      cloud.settled(
        (
          await cloud.api.ok(
            'POST',
            `/instances/${name}/actions/${verb}?project=default`,
            verb === 'stop' ? { force: true } : {},
          )
        ).taskId,
        end,
      );
    const inGuest = async (name: string, command: string, answer: RegExp, project = 'default'): Promise<void> => {
      const screen = await cloud.console(name, project);
      await screen.ask(command, answer);
      screen.close();
    };
    /** Those that give out the share. */
    const daemons = async (name: string) =>
      (await processesNaming(join(cloud.directory, 'h1'))).filter(({ commandLine }) =>
        commandLine.includes(`--shared-dir\0${join(directory, name)}\0`),
      );
    /** Once it is mounted, whatever was typed before. */
    const mounted = (share: string): string =>
      `mkdir -p /${share}; grep -q " /${share} virtiofs" /proc/mounts || mount -t virtiofs ${share} /${share}; grep -q " /${share} virtiofs" /proc/mounts`;
    const host = async () => {
      const { items } = await cloud.api.ok('GET', '/hosts');
      return cloud.api.ok('GET', `/hosts/${items[0]?.id ?? ''}`);
    };

    it('says what a host has, why not all of it, and to each project what is its own', async () => {
      const { inventory, conditions, state } = await host();
      expect(state).toBe('ready');
      expect(inventory?.shares.map(({ name, usable }) => [name, usable])).toEqual([
        ['media', true],
        ['docs', true],
        ['red', true],
        ['nobody', true],
        ['lost', false],
      ]);
      expect(conditions.find(({ type }) => type === 'Shares')).toMatchObject({
        status: 'false',
        message: 'the share "lost" cannot be used: it is not there',
      });
      const { items } = await cloud.api.ok('GET', '/shares?project=default');
      expect(items).toMatchObject([
        { name: 'docs', readonly: true, hosts: [{ name: 'h1' }] },
        { name: 'media', readonly: false, hosts: [{ name: 'h1' }] },
      ]);
      const user = await cloud.api.ok('POST', '/users', { name: 'anna', password: 'a password for anna' });
      await cloud.api.ok('PUT', `/projects/${own}/members/${user.id}`, { role: 'viewer' });
      const anna = new ApiClient(cloud.api.url);
      await anna.login('anna', 'a password for anna');
      const seen = (await anna.ok('GET', '/shares?project=default&limit=1')) as { items: object[]; next: string };
      expect(seen.items).toEqual([{ name: 'docs', readonly: true, hosts: null }]);
      expect(
        (await anna.ok('GET', `/shares?project=default&cursor=${seen.next}`)).items.map(({ name }) => name),
      ).toEqual(['media']);
      expect((await anna.call('GET', '/shares?project=red')).status).toBe(404);
      await anna.close();
      expect((await cloud.api.ok('GET', '/shares?project=red')).items.map(({ name }) => name)).toEqual(['red']);
    });

    it('refuses in the same words what there is not and what is not its own, and in which way it cannot be had', async () => {
      const ask = (shares: object[]) =>
        cloud.api.call('POST', '/instances?project=default', {
          name: 'never',
          flavor: 'tiny',
          image: 'linux',
          networks: [{ network: 'n1' }],
          shares,
        } as BodyOf<'post', '/instances'>);
      for (const share of ['red', 'nobody', 'lost', 'none'])
        expect(await ask([{ share: 'media' }, { share }])).toMatchObject({
          status: 422,
          body: {
            errors: [
              { path: 'body.shares.1.share', code: 'no_such_share', message: `The project has no share "${share}".` },
            ],
          },
        });
      for (const share of ['../red', '/etc', 'Media', 'a,readonly=off', '', 'x'.repeat(37)])
        expect(await ask([{ share }])).toMatchObject({
          status: 422,
          body: { errors: [{ path: 'body.shares.0.share' }] },
        });
      expect(await ask([{ share: 'media' }, { share: 'media' }])).toMatchObject({ status: 422 });
      expect(await ask(['a', 'b', 'c', 'd', 'e'].map((share) => ({ share })))).toMatchObject({ status: 422 });
      expect(await ask([{ share: 'docs' }])).toMatchObject({
        status: 409,
        body: { code: 'no_host', hosts: [{ code: 'share', reason: 'it gives the share "docs" for reading only' }] },
      });
    });

    it(
      'gives two guests one directory, to one of them for reading, also after a restart of the agent',
      async () => {
        await make('writer', [{ share: 'media' }, { share: 'docs', readonly: true }]);
        const reader = await make('reader', [{ share: 'media', readonly: true }]);
        expect((await cloud.instance('writer')).shares).toEqual([
          { share: 'media', readonly: false },
          { share: 'docs', readonly: true },
        ]);
        await inGuest('writer', `${mounted('media')} && echo hello >/media/file && cat /media/file`, /^hello\r?$/m);
        const file = lstatSync(join(directory, 'media/file'));
        expect([file.uid, file.gid]).toEqual([owner, owner]);
        await inGuest('reader', `${mounted('media')} && cat /media/file`, /^hello\r?$/m);
        await inGuest('reader', 'echo no >/media/file || echo refu"sed"', /^refused\r?$/m);
        await inGuest('writer', `${mounted('red')} || echo no"ne"`, /^none\r?$/m);

        await cloud.host('h1').end('SIGKILL');
        await cloud.host('h1').start();
        await cloud.hostState('h1', 'ready');
        await inGuest('writer', 'echo again >/media/file; cat /media/file', /^again\r?$/m);
        expect(readFileSync(join(directory, 'media/file'), 'utf8')).toBe('again\n');

        const suspended = await cloud.api.call('POST', '/instances/writer/actions/suspend?project=default', {});
        expect(suspended).toMatchObject({ status: 409, body: { code: 'has_shares' } });
        await cloud.settled((await cloud.api.ok('DELETE', '/instances/reader?project=default')).taskId);
        expect((await daemons('media')).some(({ commandLine }) => commandLine.includes(reader))).toBe(false);
      },
      4 * minutes,
    );

    it(
      'keeps the guests of two projects apart',
      async () => {
        const image = await cloud.api.ok('POST', '/images?project=red', { name: 'linux' });
        await cloud.api.ok('PUT', `/images/${image.id}/content`, readFileSync(guestImage()));
        await cloud.api.ok('POST', '/networks?project=red', { name: 'n1', subnet: '10.20.0.0/24' });
        const theirs = { name: 'theirs', flavor: 'tiny', image: 'linux', networks: [{ network: 'n1' }], vmm: 'qemu' };
        const refused = await cloud.api.call('POST', '/instances?project=red', {
          ...theirs,
          shares: [{ share: 'media' }],
        });
        expect(refused).toMatchObject({ status: 422, body: { errors: [{ code: 'no_such_share' }] } });
        const { instance, taskId } = await cloud.api.ok('POST', '/instances?project=red', {
          ...theirs,
          shares: [{ share: 'red' }],
        });
        await cloud.settled(taskId);
        await inGuest('theirs', `${mounted('red')} && echo theirs >/red/file; ls /red`, /^file\r?$/m, 'red');
        await inGuest('theirs', `${mounted('media')} || echo no"ne"`, /^none\r?$/m, 'red');
        expect(readFileSync(join(directory, 'red/file'), 'utf8')).toBe('theirs\n');
        await inGuest(
          instance.id,
          `ln -s ${join(directory, 'media/file')} /red/out; cat /red/out || echo clo"sed"`,
          /^closed\r?$/m,
          'red',
        );
        await cloud.settled((await cloud.api.ok('DELETE', `/instances/${instance.id}`)).taskId);
      },
      3 * minutes,
    );

    it(
      'tells of a daemon that dies while its machine goes on, and has it again after a stop and a start',
      async () => {
        const id = (await cloud.instance('writer')).id;
        const [daemon] = await daemons('media');
        expect(daemon).toBeDefined();
        process.kill(daemon?.pid ?? 0, 'SIGKILL');
        await eventually('the instance says so', async () => {
          const { state, stateReason } = await cloud.instance('writer');
          return state === 'running' && stateReason.startsWith('without its share "media", which failed');
        });
        await act('writer', 'stop');
        await act('writer', 'start');
        await inGuest('writer', `${mounted('media')} && cat /media/file`, /^again\r?$/m);
        expect((await cloud.instance(id)).stateReason).toBe('');
      },
      3 * minutes,
    );

    it(
      'does not start on a directory that became a link, and does once it is one again',
      async () => {
        await act('writer', 'stop');
        const [media, elsewhere] = [join(directory, 'media'), join(directory, 'elsewhere')];
        renameSync(media, elsewhere);
        symlinkSync(elsewhere, media);
        const failed = await act('writer', 'start', 'failed');
        expect(failed.error).toMatchObject({ code: 'share_unusable' });
        unlinkSync(media);
        renameSync(elsewhere, media);
        await act('writer', 'start');
        await inGuest('writer', `${mounted('media')} && cat /media/file`, /^again\r?$/m);
        await cloud.settled((await cloud.api.ok('DELETE', '/instances/writer?project=default')).taskId);
        // What it held is the operator's.
        expect(existsSync(join(media, 'file'))).toBe(true);
        expect(cloud.leftovers()).toEqual([]);
      },
      3 * minutes,
    );
  });
}
