import { gzipSync } from 'node:zlib';
import type { Page, Request } from 'playwright-core';
import { io } from 'socket.io-client';
import { TestCloud } from '../../support/cloud';
import { ConsoleBrowser } from '../../support/console-browser';
import { DevServer } from '../../support/dev-server';

const minutes = 60_000;
const viewer = { name: 'onlooker', password: 'a long enough password' };

/** Methods and paths below `/api/v1` of what a page asks from here on. */
const asked = (page: Page): string[] => {
  const found: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/api/v1/')) found.push(`${request.method()} ${pathname.slice('/api/v1'.length)}`);
  });
  return found;
};

/** Bytes of an answer's body as sent; of one that is sent plain, what gzip makes of it. */
const compressedBytes = async (request: Request): Promise<number> => {
  const response = await request.response();
  if (response === null) return 0;
  if ((await response.headerValue('content-encoding')) === null) return gzipSync(await response.body()).length;
  return (await request.sizes()).responseBodySize;
};

describe("the console's connections", () => {
  let cloud: TestCloud;
  let browser: ConsoleBrowser;
  let admin: { name: string; password: string };
  let instance: string;

  beforeAll(async () => {
    cloud = await TestCloud.start('conn', { hosts: ['h1'] });
    await cloud.furnish();
    const created = await cloud.create('steady');
    await cloud.settled(created.taskId);
    instance = (await cloud.instance('steady')).id;
    const user = await cloud.api.ok('POST', '/users', viewer);
    const project = (await cloud.api.ok('GET', '/projects')).items.find((p) => p.name === 'default');
    await cloud.api.ok('PUT', `/projects/${project?.id ?? ''}/members/${user.id}`, { role: 'viewer' });
    admin = { name: 'admin', password: cloud.adminPassword };
    browser = await ConsoleBrowser.start(cloud);
  }, 5 * minutes);

  afterAll(async () => {
    await browser?.close();
    await cloud?.close();
  }, 2 * minutes);

  const live = (page: Page) => page.getByRole('status').getByText('Live', { exact: true });
  const menu = async (page: Page, entry: string): Promise<void> => {
    await page.getByRole('button', { name: 'Actions for steady' }).click();
    await page.getByRole('menuitem', { name: entry, exact: true }).click();
  };

  it(
    'shows the overview after at most 20 requests and 200 kB',
    async () => {
      const requests: Request[] = [];
      const page = await browser.page(admin, (_context, fresh) =>
        fresh.on('requestfinished', (request) => requests.push(request)),
      );
      await page.locator('main .animate-pulse').first().waitFor({ state: 'detached' });
      // What is fetched ahead for later pages is no part of it.
      const first = requests.filter((request) => !/assets\/(palette|pages|terminal|screen)-/.test(request.url()));
      const sizes = await Promise.all(first.map(compressedBytes));
      const kilobytes = sizes.reduce((sum, size) => sum + size, 0) / 1000;
      console.log(`first load of the overview: ${first.length} requests, ${kilobytes.toFixed(1)} kB compressed`);
      const paths = first.map((request) => `${request.method()} ${new URL(request.url()).pathname}`);
      expect(paths.filter((path, n) => paths.indexOf(path) !== n && path !== 'GET /api/v1/tasks')).toEqual([]);
      expect(first.length).toBeLessThanOrEqual(20);
      expect(kilobytes).toBeLessThanOrEqual(200);
      await page.context().close();
    },
    2 * minutes,
  );

  it(
    'opens one socket for a serial console, and shows each byte once',
    async () => {
      const page = await browser.page(admin);
      const sockets: string[] = [];
      page.on('websocket', (socket) => {
        if (socket.url().includes('/api/v1/console')) sockets.push(socket.url());
      });
      await page.goto(browser.address(`instances/${instance}?tab=console`));
      await page.getByRole('toolbar', { name: 'Console' }).getByText('Connected').waitFor();
      const screen = await cloud.console(instance);
      await screen.until(/@@ ready/);
      await page.locator('.xterm').click();
      await page.keyboard.type('echo once-$((6 * 7))\n');
      await screen.until(/once-42/);
      screen.close();
      await page.locator('.xterm-rows > div', { hasText: /^once-42/ }).waitFor();
      expect(await page.locator('.xterm-rows > div', { hasText: /^once-42/ }).count()).toBe(1);
      expect(await page.locator('.xterm-rows > div', { hasText: /echo once-/ }).count()).toBe(1);
      expect(sockets).toHaveLength(1);
      await page.context().close();
    },
    3 * minutes,
  );

  it(
    'asks for a console once when the role does not allow it',
    async () => {
      const page = await browser.page(viewer, (_context, fresh) => fresh.clock.install());
      const requests = asked(page);
      await page.goto(browser.address(`instances/${instance}?tab=console`));
      const toolbar = page.getByRole('toolbar', { name: 'Console' });
      await toolbar.getByText('Not connected').waitFor();
      await page.clock.runFor('10:00');
      await toolbar.getByText('Not connected').waitFor();
      expect(requests.filter((request) => request.endsWith('/actions/console'))).toHaveLength(1);
      await page.context().close();
    },
    2 * minutes,
  );

  it(
    'refuses changes in words while it is offline, never does them later, and says since when it is',
    async () => {
      const page = await browser.page(admin);
      await page.goto(browser.address('instances'));
      await live(page).waitFor();
      const row = page.getByRole('row', { name: /steady/ });
      await row.getByText('Running', { exact: true }).waitFor();
      const requests = asked(page);
      await page.context().setOffline(true);
      await page
        .getByText(/^Offline since \d/)
        .first()
        .waitFor();
      await row
        .getByText(/as of \d/)
        .first()
        .waitFor({ state: 'attached' });
      expect(await live(page).count()).toBe(0);
      await menu(page, 'Stop');
      await page
        .getByRole('alert')
        .getByText(/Nothing was sent/)
        .waitFor();
      await page.context().setOffline(false);
      await live(page).waitFor();
      await page
        .getByText(/^Offline since/)
        .first()
        .waitFor({ state: 'detached' });
      await page.reload();
      await row.getByText('Running', { exact: true }).waitFor();
      expect(requests.filter((request) => request.startsWith('POST') && request.includes('/actions/'))).toEqual([]);
      expect((await cloud.instance('steady')).state).toBe('running');
      await page.context().close();
    },
    2 * minutes,
  );

  it(
    'shows nothing of a project any more that its user was taken out of while it was offline, and no error',
    async () => {
      const projects = (await cloud.api.ok('GET', '/projects')).items;
      const membership =
        `/projects/${projects.find((p) => p.name === 'default')?.id ?? ''}/members/${viewer.name}` as const;
      const page = await browser.page(viewer);
      const requests = asked(page);
      const network = page.getByRole('row', { name: /n1/ });
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Networks' }).click();
      await network.waitFor();
      await live(page).waitFor();
      await page.context().setOffline(true);
      await page
        .getByText(/^Offline since \d/)
        .first()
        .waitFor();
      await network.waitFor();
      await cloud.api.ok('DELETE', membership);
      await page.context().setOffline(false);
      await live(page).waitFor();
      await page.getByText('No networks yet').waitFor();
      expect(await network.count()).toBe(0);
      expect(await page.getByRole('alert').count()).toBe(0);
      for (const [link, none] of [
        ['Instances', 'No instances yet'],
        ['Images', 'No images yet'],
      ] as const) {
        await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: link }).click();
        await page.getByText(none).waitFor();
      }
      expect(await page.getByText('steady').count()).toBe(0);
      expect(requests.filter((request) => request.startsWith('POST /login'))).toEqual([]);
      await cloud.api.ok('PUT', membership, { role: 'viewer' });
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Networks' }).click();
      await network.waitFor();
      await page.context().close();
    },
    2 * minutes,
  );

  it(
    'shows pages that were not visited yet while it is offline',
    async () => {
      const page = await browser.page(admin);
      await page.waitForFunction(() =>
        performance.getEntriesByType('resource').some((entry) => /\/terminal-.*\.js$/.test(entry.name)),
      );
      await page.context().setOffline(true);
      for (const [link, title] of [
        ['SSH keys', 'SSH keys'],
        ['Networks', 'Networks'],
        ['Hosts', 'Hosts'],
      ] as const) {
        await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: link }).click();
        await page.getByRole('heading', { level: 1, name: title }).waitFor();
      }
      await page.context().close();
    },
    2 * minutes,
  );

  it(
    'explains code that does not come, and loads it when asked again',
    async () => {
      const page = await browser.page(admin, (context) =>
        context.route(/assets\/pages-.*\.js/, (route) => route.fulfill({ status: 404, body: 'gone' })),
      );
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Networks' }).click();
      await page.getByRole('heading', { name: 'This part of the console could not be loaded' }).waitFor();
      await page.context().unroute(/assets\/pages-.*\.js/);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('heading', { level: 1, name: 'Networks' }).waitFor();
      await page.context().close();
    },
    2 * minutes,
  );

  it(
    'offers to reload after an upgrade took the code away',
    async () => {
      const page = await browser.page(admin, (context) =>
        context.route(/assets\/pages-.*\.js/, (route) => route.fulfill({ status: 404, body: 'gone' })),
      );
      await page.context().route(/\/console\/$/, (route) =>
        route.fulfill({
          contentType: 'text/html',
          body: '<script type="module" src="/console/assets/index-newer.js"></script>',
        }),
      );
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Networks' }).click();
      await page.getByRole('heading', { name: 'The console was updated' }).waitFor();
      await page.context().unrouteAll();
      await page.getByRole('button', { name: 'Reload the console' }).click();
      await page.getByRole('heading', { level: 1, name: 'Networks' }).waitFor();
      await page.context().close();
    },
    2 * minutes,
  );

  it(
    'is served by the development server too, with the requests and the live events of the real stack',
    async () => {
      const server = await DevServer.start(cloud.api.url);
      try {
        expect(await (await fetch(`${server.url}/console/`)).text()).toContain('/console/src/main.tsx');
        const login = await fetch(`${server.url}/api/v1/login`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(admin),
        });
        const { accessToken } = (await login.json()) as { accessToken: string };
        // As a browser says it: of the page's own origin, which is not that of the stack.
        const socket = io(server.url, {
          path: '/api/v1/live',
          auth: { token: accessToken },
          transports: ['websocket'],
          extraHeaders: { origin: server.url },
        });
        await new Promise((resolve, reject) => socket.once('ready', resolve).once('connect_error', reject));
        const told = new Promise<string>((resolve) =>
          socket.on('event', ({ type }: { type: string }) => type === 'flavor.created' && resolve(type)),
        );
        await cloud.api.ok('POST', '/flavors', { name: 'seen-live', vcpus: 1, memoryBytes: 268_435_456 });
        expect(await told).toBe('flavor.created');
        socket.disconnect();
      } finally {
        await server.close();
      }
    },
    minutes,
  );

  it('threw nothing in the browser', () => expect(browser.errors).toEqual([]));
});
