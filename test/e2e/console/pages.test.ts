import { execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { guestImage, TestCloud } from '../../support/cloud';
import { eventually } from '../../support/eventually';
import { ConsoleBrowser } from '../../support/console-browser';
import { repositoryRoot } from '../../support/repository';
import { bytes } from '../../../web/src/lib/format';
import { flavorFormCases } from './flavor-form.suite';
import { madeInForms } from './made-in-forms';
import { routingCases } from './routing.suite';
import { securityGroupCases } from './security-groups.suite';
import { views, type Ids, type View } from '../../support/console-views';

const minutes = 60_000;

jest.setTimeout(minutes);
/** A folder for pictures of each page in three widths and both themes; none are taken without it. */
const album = process.env['VC_STACK_TEST_PICTURES'];
const heights: Record<number, number> = { 390: 844, 1280: 800, 1920: 1080 };
const themes = ['light', 'dark'] as const;

/**
 * This machine by its name: an import from it fails at once, for a user may not have the server ask its own network.
 */
const ownMachine = `http://${hostname()}/disk.raw`;

/** Colours have changed, however short their transitions are: two frames begin them, then they end. */
const settled = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(Promise.allSettled(document.getAnimations().filter((a) => a instanceof CSSTransition).map((a) => a.finished))))))`;
/** Rules whose findings depend on colours; all others find the same in both themes. */
const colourRules = ['color-contrast', 'link-in-text-block'];
/** Rules that axe leaves out by itself although they are about names and focus. */
const more = { 'label-content-name-mismatch': { enabled: true }, 'target-size': { enabled: true } };

describe('every page of the console', () => {
  let cloud: TestCloud;
  let browser: ConsoleBrowser;
  let page: Page;
  let ids: Ids;

  beforeAll(async () => {
    cloud = await TestCloud.start('pages', { hosts: ['h1'] });
    await cloud.furnish();
    const created = await cloud.create('steady');
    await cloud.settled(created.taskId);
    const stopped = await cloud.create('stopped');
    await cloud.settled(stopped.taskId);
    await cloud.settled(
      (await cloud.api.ok('POST', `/instances/${(await cloud.instance('stopped')).id}/actions/stop`, { force: true }))
        .taskId,
    );
    const image = await cloud.api.ok('POST', '/images?project=default', { name: 'unreachable', url: ownMachine });
    await cloud.api.ok('GET', `/tasks/${image.taskId}?wait=60s`);
    const first = async (
      list: '/networks' | '/routers' | '/security-groups' | '/users' | '/hosts' | '/projects',
    ): Promise<string> => (await cloud.api.ok('GET', list)).items[0]?.id ?? '';
    ids = {
      instance: (await cloud.instance('steady')).id,
      network: await first('/networks'),
      router: await first('/routers'),
      securityGroup: await first('/security-groups'),
      user: await first('/users'),
      host: await first('/hosts'),
      project: await first('/projects'),
      failedTask: image.taskId ?? '',
    };
    // What nobody knows, for the page of its host.
    mkdirSync(join(cloud.stateOf('h1'), 'instances', randomUUID()), { recursive: true });
    browser = await ConsoleBrowser.start(cloud);
    page = await browser.page({ name: 'admin', password: cloud.adminPassword });
    if (album !== undefined) mkdirSync(album, { recursive: true });
  }, 5 * minutes);

  afterAll(async () => {
    await browser?.close();
    await cloud?.close();
  }, 2 * minutes);

  const go = (path: string): Promise<unknown> =>
    page.evaluate(
      `history.pushState(null, '', ${JSON.stringify(browser.address(path))}); dispatchEvent(new PopStateEvent('popstate', { state: null }))`,
    );
  const show = async ({ path, open }: View): Promise<void> => {
    await page.setViewportSize({ width: 1280, height: 800 });
    // The page is left before the next one is shown, as by its links: the console stays loaded. Only then is closed
    // what the frame has open: a page's drawer would lead elsewhere when it closes.
    await go('nowhere');
    await page.getByText('There is no such page').waitFor();
    await page.keyboard.press('Escape');
    await go(path(ids));
    if (path(ids) !== 'nowhere') await page.getByText('There is no such page').waitFor({ state: 'detached' });
    await page.locator('h1').first().waitFor({ state: 'attached' });
    await page.locator('main .animate-pulse').first().waitFor({ state: 'detached' });
    await open?.(page);
  };

  it.each(views)(
    'has nothing that axe finds, in two widths and both themes: $name',
    async (view) => {
      await show(view);
      const found: string[] = [];
      for (const width of album === undefined ? [1280, 390] : [1920, 1280, 390]) {
        await page.setViewportSize({ width, height: heights[width] ?? 800 });
        for (const theme of themes) {
          await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
          await page.locator(`html[data-theme=${theme}]`).waitFor();
          await page.evaluate(settled);
          if (album !== undefined) await page.screenshot({ path: join(album, `${view.name}-${width}-${theme}.png`) });
          if (width === 1920) continue;
          // Without its own mode for frames, which there are none of, axe needs no further page.
          const axe = new AxeBuilder({ page })
            .setLegacyMode()
            .options(theme === 'light' ? { rules: more } : { runOnly: { type: 'rule', values: colourRules } });
          const { violations } = await axe.analyze();
          found.push(
            ...violations.flatMap(({ id, nodes }) =>
              nodes.map((node) => `${width} ${theme} ${id}: ${node.html.slice(0, 150)}`),
            ),
          );
        }
      }
      expect(found).toEqual([]);
      expect(await page.locator('html').evaluate((html: { scrollWidth: number }) => html.scrollWidth)).toBe(390);
    },
    3 * minutes,
  );

  // What was looked at on a phone's screen before is used on a larger one.
  beforeEach(() => page.setViewportSize({ width: 1280, height: 800 }));

  /** The row of a list, the one with this name in it. */
  const row = (name: string) => page.getByRole('row', { name: new RegExp(name) });
  /** Asks for it in the row, types its name, and sees the row go. */
  const remove = async (name: string): Promise<void> => {
    await row(name)
      .getByRole('button', { name: `Delete ${name}` })
      .click();
    await page.getByLabel(/to confirm/).fill(name);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await row(name).waitFor({ state: 'detached' });
  };
  it.each(madeInForms)(
    'makes one of its $list in a form, and deletes it by its name',
    async ({ list, fill, button, name }) => {
      await page.goto(browser.address(`${list}?new=1`));
      const form = page.getByRole('dialog');
      for (const [label, text] of Object.entries(fill)) await form.getByLabel(new RegExp(`^${label}`)).fill(text);
      await form.getByRole('button', { name: button }).click();
      await row(name).waitFor();
      await remove(name);
    },
  );

  flavorFormCases(() => ({ cloud, browser, page }));
  routingCases(() => ({ cloud, browser, page }));
  securityGroupCases(() => ({ cloud, browser, page }));

  it(
    'takes a member into a project and out of it, which the member sees at once',
    async () => {
      const password = 'a long enough password';
      await cloud.api.ok('POST', '/users', { name: 'made-member', password });
      const theirs = await browser.page({ name: 'made-member', password });
      await theirs.goto(browser.address('networks'));
      await theirs.getByText('No networks yet').waitFor();
      await page.goto(browser.address(`projects/${ids.project}`));
      await page.getByLabel('User', { exact: true }).fill('made-member');
      await page.getByRole('button', { name: 'Add member' }).click();
      await page.getByLabel('Role of made-member').waitFor();
      const roles = async () =>
        (await cloud.api.ok('GET', `/projects/${ids.project}/members`)).items.map((m) => [m.userName, m.role]);
      expect(await roles()).toContainEqual(['made-member', 'member']);
      const create = theirs.getByRole('button', { name: 'New network' });
      await theirs.getByRole('row', { name: /n1/ }).waitFor();
      expect(await create.isEnabled()).toBe(true);
      await page.getByLabel('Role of made-member').selectOption('viewer');
      await eventually('the role', async () => JSON.stringify(await roles()).includes('["made-member","viewer"]'));
      await theirs.locator('button[aria-disabled=true]', { hasText: 'New network' }).waitFor();
      await page.getByRole('button', { name: 'Remove made-member' }).click();
      await page.getByLabel('Role of made-member').waitFor({ state: 'detached' });
      await theirs.getByRole('row', { name: /n1/ }).waitFor({ state: 'detached' });
      await page.goto(browser.address('users'));
      await row('made-member').getByRole('button', { name: 'Disable' }).click();
      await row('made-member').getByText('Disabled', { exact: true }).waitFor();
      await theirs.getByRole('button', { name: 'Sign in' }).waitFor();
      await theirs.context().close();
    },
    minutes,
  );

  /** What the API says of what the overview counts, in the overview's words. */
  const counted = async (): Promise<string[][]> => {
    const [instances, images, networks, volumes] = await Promise.all([
      cloud.api.ok('GET', '/instances?limit=500'),
      cloud.api.ok('GET', '/images?limit=500'),
      cloud.api.ok('GET', '/networks?limit=500'),
      cloud.api.ok('GET', '/volumes?limit=500'),
    ]);
    const is = (state: string) => (item: { state: string }) => item.state === state;
    return [
      ['Instances', `${instances.items.length}`, `${instances.items.filter(is('running')).length} running`],
      ['Images', `${images.items.length}`, `${images.items.filter(is('ready')).length} ready`],
      [
        'Networks',
        `${networks.items.length}`,
        `${networks.items.reduce((sum, n) => sum + n.addresses.used, 0)} addresses used`,
      ],
      ['Volumes', `${volumes.items.length}`, bytes(volumes.items.reduce((sum, v) => sum + v.bytes, 0))],
    ];
  };
  /** Waits until the overview says the same, and gives it. */
  const shownAsCounted = async (): Promise<string> => {
    const wanted = JSON.stringify(await counted());
    let shown = '';
    return eventually('the figures of the overview', async () => {
      const cards = await page.locator('main a.rounded-xl').allInnerTexts();
      shown = JSON.stringify(cards.map((card) => card.split('\n').filter((line) => line.trim() !== '')));
      return shown === wanted && shown;
    }).catch(() => {
      throw new Error(`the overview shows ${shown}, and there is ${wanted}`);
    });
  };

  it(
    'counts on the overview what there is, and shows the disk of an instance until that goes',
    async () => {
      await page.goto(browser.address(''));
      const before = await shownAsCounted();
      await cloud.settled((await cloud.create('disky')).taskId);
      expect(await shownAsCounted()).not.toBe(before);
      const { capacity } = await cloud.hostState('h1', 'ready');
      const claimed = `${capacity.vcpusUsed} of ${capacity.vcpus}`;
      await page
        .getByRole('meter', { name: 'vCPUs' })
        .and(page.locator(`[aria-valuetext^="${claimed},"]`))
        .waitFor();
      await page
        .getByRole('main')
        .getByRole('link', { name: /^Volumes/ })
        .click();
      const { items } = await cloud.api.ok('GET', '/volumes?q=disky');
      const disk = row('disky').filter({ hasText: bytes(items[0]?.bytes ?? 0) });
      await disk
        .filter({ hasText: 'root' })
        .filter({ hasText: 'h1' })
        .filter({ hasText: items[0]?.pool ?? '?' })
        .waitFor();
      await disk.getByRole('link', { name: 'disky' }).click();
      await page.getByRole('heading', { level: 1, name: 'disky' }).waitFor();
      await page.goBack();
      await disk.waitFor();
      await cloud.settled((await cloud.api.ok('DELETE', '/instances/disky?project=default')).taskId ?? '');
      await disk.waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'Overview' }).first().click();
      expect(await shownAsCounted()).toBe(before);
    },
    2 * minutes,
  );

  it('takes a public key, refuses a private one, and forgets a key', async () => {
    const pair = join(cloud.directory, 'key');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'my-laptop', '-f', pair]);
    await page.goto(browser.address('ssh-keys?new=1'));
    const form = page.getByRole('dialog');
    await form.getByLabel('Public key').fill(readFileSync(pair, 'utf8'));
    await form.getByLabel('Name').fill('my-laptop');
    await form.getByRole('button', { name: 'Add SSH key' }).click();
    await form.getByText('This is a private key', { exact: false }).waitFor();
    expect((await cloud.api.ok('GET', '/ssh-keys')).items).toEqual([]);
    await form.getByLabel('Name').fill('');
    await form.getByLabel('Public key').fill(readFileSync(`${pair}.pub`, 'utf8'));
    await form.getByRole('button', { name: 'Add SSH key' }).click();
    const fingerprint = execFileSync('ssh-keygen', ['-lf', `${pair}.pub`], { encoding: 'utf8' }).split(' ')[1] ?? '';
    await row('my-laptop').getByText(fingerprint).waitFor();
    await remove('my-laptop');
  });

  it(
    'sends an image from a file, tells how far it is, stops at a word, and says why a wrong file is refused',
    async () => {
      const backed = join(cloud.directory, 'backed.qcow2');
      execFileSync('qemu-img', ['create', '-q', '-f', 'qcow2', '-b', guestImage(), '-F', 'raw', backed]);
      await page.goto(browser.address('images'));
      const form = page.getByRole('dialog');
      const send = async (file: string, name: string): Promise<void> => {
        await page.getByRole('button', { name: 'Add image' }).click();
        await form.getByLabel(/Choose a disk image/).setInputFiles(file);
        await form.getByLabel('Name').fill(name);
        await form.getByRole('button', { name: 'Upload' }).click();
      };
      await send(backed, 'not-alone');
      await form
        .getByRole('alert')
        .getByText(/backing file/)
        .waitFor();
      await form.getByRole('button', { name: 'Cancel' }).click();
      await row('not-alone').waitFor({ state: 'detached' });

      const wire = await page.context().newCDPSession(page);
      await wire.send('Network.enable');
      const pace = (bytesPerSecond: number) =>
        wire.send('Network.emulateNetworkConditions', {
          offline: false,
          latency: 0,
          downloadThroughput: -1,
          uploadThroughput: bytesPerSecond,
        });
      await pace(4 * 2 ** 20);
      await send(guestImage(), 'slow');
      const done = form.getByRole('progressbar', { name: 'Upload' });
      await eventually('some of it', async () => Number(await done.getAttribute('aria-valuenow')) > 5);
      await form.getByRole('button', { name: 'Stop the upload' }).click();
      await form.getByRole('button', { name: 'Cancel' }).click();
      await row('slow').waitFor({ state: 'detached' });
      await pace(-1);
      await send(guestImage(), 'from-here');
      await row('from-here').getByText('ready').waitFor();
      const digest = createHash('sha256').update(readFileSync(guestImage())).digest('hex');
      await row('from-here').getByRole('button', { name: 'Edit from-here' }).click();
      await form.getByLabel('Virtual machine monitor').fill('qemu');
      await form.getByRole('button', { name: 'Save' }).click();
      await form.waitFor({ state: 'detached' });
      const { items } = await cloud.api.ok('GET', '/images?project=default');
      expect(items.map(({ name }) => name).sort()).toEqual(['from-here', 'linux', 'unreachable']);
      expect(items.find(({ name }) => name === 'from-here')).toMatchObject({
        state: 'ready',
        sha256: digest,
        vmm: 'qemu',
      });
      await remove('from-here');
    },
    2 * minutes,
  );

  it(
    'makes an API token that is shown once, works elsewhere, and ends when it is deleted',
    async () => {
      await page.goto(browser.address('account'));
      await page.getByRole('button', { name: 'New token' }).click();
      const form = page.getByRole('dialog');
      await form.getByLabel('Name').fill('made-token');
      await form.getByLabel('Scope').selectOption({ label: 'Only read' });
      await form.getByRole('button', { name: 'Create token' }).click();
      const token = await form.locator('code').filter({ hasText: /^vcs/ }).innerText();
      await form.getByRole('button', { name: 'Done' }).click();
      await form.waitFor({ state: 'detached' });
      await page.reload();
      await row('made-token').waitFor();
      expect(await page.content()).not.toContain(token);

      const curl = (...more: string[]): string =>
        execFileSync(
          'curl',
          ['-sk', '-o', '/dev/null', '-w', '%{http_code}', '-H', `Authorization: Bearer ${token}`, ...more],
          { encoding: 'utf8', timeout: 20_000 },
        );
      const url = `${cloud.api.url}/api/v1/networks?project=default`;
      expect(curl(url)).toBe('200');
      expect(curl('-H', 'Content-Type: application/json', '-d', '{"name":"x","subnet":"10.99.0.0/24"}', url)).toBe(
        '403',
      );
      const vcctl = (args: string[], input = ''): string =>
        execFileSync(process.execPath, [join(repositoryRoot, 'dist/src/vcctl.js'), ...args], {
          encoding: 'utf8',
          input,
          env: { ...process.env, VCCTL_CONFIG: join(cloud.directory, 'vcctl.yaml') },
          timeout: 20_000,
        });
      const server = readFileSync(join(cloud.directory, 'management/state/management/tls/server.json'), 'utf8');
      const { rootFingerprint } = JSON.parse(server) as { rootFingerprint: string };
      vcctl(['login', cloud.api.url, '--fingerprint', rootFingerprint, '--token-stdin'], token);
      expect(vcctl(['network', 'list'])).toContain('n1');
      await remove('made-token');
      expect(curl(url)).toBe('401');
      expect(() => vcctl(['network', 'list'])).toThrow(/unauthenticated|signed|login/i);
    },
    minutes,
  );

  it(
    'shows a command with which one host joins, and no second one',
    async () => {
      await page.goto(browser.address('hosts?new=1'));
      await page.getByRole('button', { name: 'Make the command' }).click();
      const command = await page.getByRole('dialog').locator('code').filter({ hasText: 'sudo' }).innerText();
      await page.getByRole('button', { name: 'Done' }).click();
      const open = page.getByRole('table', { name: 'Commands that are still good' });
      await open.waitFor();
      const [, name = '', token = ''] = /^sudo (\w+)=(\S+) vc-stack compute$/.exec(command.trim()) ?? [];
      await cloud.addHost('h2', { [name]: token });
      await row('h2').getByText('Ready', { exact: true }).waitFor({ timeout: minutes });
      await open.waitFor({ state: 'detached' });
      await expect(cloud.addHost('h3', { [name]: token })).rejects.toThrow(/token_used|used already/);
      cloud.hosts.delete('h3');
    },
    3 * minutes,
  );

  it('shows a task that fails while one looks, with its reason', async () => {
    await page.goto(browser.address('tasks'));
    await row('Import image').first().waitFor();
    const before = await row('nowhere').count();
    const { taskId } = await cloud.api.ok('POST', '/images?project=default', {
      name: 'nowhere',
      url: ownMachine,
    });
    await cloud.settled(taskId ?? '', 'failed');
    expect(before).toBe(0);
    const { error } = await cloud.api.ok('GET', `/tasks/${taskId ?? ''}`);
    await row('nowhere')
      .getByText(error?.reason ?? '?')
      .waitFor();
  });

  it('narrows the list of tasks by state and type, and keeps that in the address', async () => {
    await page.goto(browser.address('tasks'));
    await page.getByLabel('State').selectOption({ label: 'Failed' });
    await row('unreachable').waitFor();
    await row('Create instance').first().waitFor({ state: 'detached' });
    await page.reload();
    await row('unreachable').waitFor();
    expect(await row('Create instance').count()).toBe(0);
  });

  it('threw nothing in the browser', () => expect(browser.errors).toEqual([]));
});
