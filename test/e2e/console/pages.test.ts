import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { TestCloud } from '../../support/cloud';
import { eventually } from '../../support/eventually';
import { ConsoleBrowser } from '../../support/console-browser';

const minutes = 60_000;

jest.setTimeout(minutes);
/** A folder for pictures of each page in three widths and both themes; none are taken without it. */
const album = process.env['VC_STACK_TEST_PICTURES'];
const heights: Record<number, number> = { 390: 844, 1280: 800, 1920: 1080 };
const themes = ['light', 'dark'] as const;

interface View {
  name: string;
  path: (ids: Ids) => string;
  /** What to open on the page, and how to close it. */
  open?: (page: Page) => Promise<unknown>;
}
interface Ids {
  instance: string;
  network: string;
  user: string;
  host: string;
  project: string;
  failedTask: string;
}

/** A dialog that a button opens. */
const opened = (name: string, path: View['path'], button: string): View => ({
  name,
  path,
  open: async (page) => {
    await page.getByRole('button', { name: button, exact: true }).first().click();
    await page.getByRole('dialog').waitFor();
  },
});
const dialog = (name: string, path: string): View => ({
  name,
  path: () => path,
  open: (page) => page.getByRole('dialog').waitFor(),
});
const views: View[] = [
  { name: 'overview', path: () => '' },
  { name: 'instances', path: () => 'instances' },
  {
    name: 'instances-selected',
    path: () => 'instances',
    open: (page) => page.getByRole('checkbox', { name: 'Select steady' }).click(),
  },
  {
    name: 'instances-menu',
    path: () => 'instances',
    open: (page) => page.getByRole('button', { name: 'Actions for steady' }).click(),
  },
  {
    name: 'instances-nothing-found',
    path: () => 'instances?q=nothing-like-it',
    open: (page) => page.getByText('Nothing matches the filter').waitFor(),
  },
  {
    name: 'instance-new',
    path: () => 'instances/new',
    open: (page) => page.getByRole('button', { name: 'Create instance' }).click(),
  },
  { name: 'instance', path: ({ instance }) => `instances/${instance}` },
  {
    name: 'instance-console',
    path: ({ instance }) => `instances/${instance}?tab=console`,
    open: (page) => page.getByText('Connected', { exact: true }).waitFor(),
  },
  {
    name: 'instance-guest-data',
    path: ({ instance }) => `instances/${instance}?tab=guest-data`,
    open: (page) => page.getByRole('heading', { name: /meta_data\.json/ }).waitFor(),
  },
  {
    name: 'console',
    path: ({ instance }) => `instances/${instance}/console`,
    open: (page) => page.getByText('Connected', { exact: true }).waitFor(),
  },
  { name: 'images', path: () => 'images' },
  dialog('image-new', 'images?new=1'),
  { name: 'flavors', path: () => 'flavors' },
  dialog('flavor-new', 'flavors?new=1'),
  opened('flavor-edit', () => 'flavors', 'Edit tiny'),
  { name: 'ssh-keys', path: () => 'ssh-keys' },
  { name: 'networks', path: () => 'networks' },
  dialog('network-new', 'networks?new=1'),
  { name: 'network', path: ({ network }) => `networks/${network}` },
  opened('network-edit', ({ network }) => `networks/${network}`, 'Edit'),
  { name: 'volumes', path: () => 'volumes' },
  { name: 'tasks', path: () => 'tasks' },
  {
    name: 'task-failed',
    path: ({ failedTask }) => `tasks/${failedTask}`,
    open: (page) => page.getByRole('complementary', { name: 'Task' }).getByRole('alert').waitFor(),
  },
  { name: 'hosts', path: () => 'hosts' },
  { name: 'host', path: ({ host }) => `hosts/${host}` },
  { name: 'projects', path: () => 'projects' },
  { name: 'project', path: ({ project }) => `projects/${project}` },
  { name: 'users', path: () => 'users' },
  { name: 'user', path: ({ user }) => `users/${user}` },
  opened('user-edit', ({ user }) => `users/${user}`, 'Edit'),
  { name: 'account', path: () => 'account' },
  { name: 'not-found', path: () => 'nowhere' },
  {
    name: 'palette',
    path: () => '',
    open: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill('stead');
      await page
        .getByRole('option', { name: /steady/ })
        .first()
        .waitFor();
    },
  },
  { name: 'project-menu', path: () => '', open: (page) => page.getByRole('button', { name: /^Project:/ }).click() },
  { name: 'account-menu', path: () => '', open: (page) => page.getByRole('button', { name: /^Account of/ }).click() },
  { name: 'shortcuts', path: () => '', open: (page) => page.keyboard.press('?') },
];

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
    const image = await cloud.api.ok('POST', '/images?project=default', {
      name: 'unreachable',
      url: 'http://nowhere.invalid/disk.raw',
    });
    await cloud.api.ok('GET', `/tasks/${image.taskId}?wait=60s`);
    const first = async (list: '/networks' | '/users' | '/hosts' | '/projects'): Promise<string> =>
      (await cloud.api.ok('GET', list)).items[0]?.id ?? '';
    ids = {
      instance: (await cloud.instance('steady')).id,
      network: await first('/networks'),
      user: await first('/users'),
      host: await first('/hosts'),
      project: await first('/projects'),
      failedTask: image.taskId ?? '',
    };
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
  interface Form {
    list: string;
    fill: Record<string, string>;
    button: string;
    name: string;
  }
  it.each<Form>([
    { list: 'flavors', fill: { Name: 'made-flavor', Memory: '1 GiB' }, button: 'Create flavor', name: 'made-flavor' },
    {
      list: 'networks',
      fill: { Name: 'made-network', Subnet: '10.66.0.0/24', 'DNS servers': '1.1.1.1, 9.9.9.9' },
      button: 'Create network',
      name: 'made-network',
    },
    { list: 'projects', fill: { Name: 'made-project' }, button: 'Create project', name: 'made-project' },
    {
      list: 'users',
      fill: { Name: 'made-user', Password: 'a long enough password' },
      button: 'Create user',
      name: 'made-user',
    },
  ])('makes one of its $list in a form, and deletes it by its name', async ({ list, fill, button, name }) => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(browser.address(`${list}?new=1`));
    const form = page.getByRole('dialog');
    for (const [label, text] of Object.entries(fill)) await form.getByLabel(new RegExp(`^${label}`)).fill(text);
    await form.getByRole('button', { name: button }).click();
    await row(name).waitFor();
    await remove(name);
  });

  it('takes a member into a project, with another role, and lets a user in no more', async () => {
    await cloud.api.ok('POST', '/users', { name: 'made-member', password: 'a long enough password' });
    await page.goto(browser.address(`projects/${ids.project}`));
    await page.getByLabel('User', { exact: true }).fill('made-member');
    await page.getByRole('button', { name: 'Add member' }).click();
    await page.getByLabel('Role of made-member').selectOption('viewer');
    const roles = async () =>
      (await cloud.api.ok('GET', `/projects/${ids.project}/members`)).items.map((m) => [m.userName, m.role]);
    await eventually('the role', async () => JSON.stringify(await roles()).includes('["made-member","viewer"]'));
    await page.goto(browser.address('users'));
    await row('made-member').getByRole('button', { name: 'Disable' }).click();
    await row('made-member').getByText('disabled', { exact: true }).waitFor();
  });

  it('narrows the list of tasks by state and type, and keeps that in the address', async () => {
    await page.goto(browser.address('tasks'));
    await page.getByLabel('State').selectOption({ label: 'Failed' });
    await row('Import image').waitFor();
    await row('Create instance').first().waitFor({ state: 'detached' });
    await page.reload();
    await row('Import image').waitFor();
    expect(await row('Create instance').count()).toBe(0);
  });

  it('threw nothing in the browser', () => expect(browser.errors).toEqual([]));
});
