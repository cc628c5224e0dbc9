import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import type { Locator, Page } from 'playwright-core';
import { TestCloud } from '../../support/cloud';
import { eventually } from '../../support/eventually';
import { ConsoleBrowser } from '../../support/console-browser';

const minutes = 60_000;

interface ApiDocument {
  paths: Record<string, { get?: { parameters?: { name: string }[] } }>;
}

/** The members of some list that say what an item is. */
interface Listed {
  id: string;
  name?: string;
  hostname?: string;
  userId?: string;
  userName?: string;
  subject?: { name: string };
}

describe('search', () => {
  let cloud: TestCloud;
  let browser: ConsoleBrowser;
  let page: Page;
  let address: string;

  beforeAll(async () => {
    cloud = await TestCloud.start('find', { hosts: ['h1'] });
    await cloud.furnish();
    for (const name of ['needle-web', 'other']) await cloud.settled((await cloud.create(name)).taskId);
    address = (await cloud.instance('needle-web')).ports[0]?.address ?? '';
    const user = await cloud.api.ok('POST', '/users', {
      name: 'needle-user',
      password: 'a long enough password',
    });
    const project = await cloud.api.ok('POST', '/projects', { name: 'needle-project' });
    await cloud.api.ok('PUT', `/projects/${project.id}/members/${user.id}`, { role: 'viewer' });
    await cloud.api.ok('POST', '/networks?project=default', { name: 'needle-net', subnet: '10.77.0.0/24' });
    await cloud.api.ok('POST', '/flavors', { name: 'needle-flavor', vcpus: 1, memoryBytes: 268_435_456 });
    await cloud.api.ok('POST', '/api-tokens', { name: 'needle-token' });
    await cloud.api.ok('POST', '/host-tokens', {});
    browser = await ConsoleBrowser.start(cloud);
    page = await browser.page({ name: 'admin', password: cloud.adminPassword });
  }, 5 * minutes);

  afterAll(async () => {
    await browser?.close();
    await cloud?.close();
  }, 2 * minutes);

  it(
    'works the same on every list of the API',
    async () => {
      const { body: document } = await cloud.api.unchecked<ApiDocument>('GET', '/openapi.json');
      const lists = Object.entries(document.paths).filter(
        ([, { get }]) => get?.parameters?.some(({ name }) => name === 'cursor') === true,
      );
      expect(lists.length).toBeGreaterThan(12);
      for (const [path, { get }] of lists) {
        expect(get?.parameters?.map(({ name }) => name)).toContain('q');
        const project = (await cloud.api.ok('GET', '/projects?q=needle')).items[0]?.id ?? '';
        const owner = path.includes('/users/') ? 'admin' : project;
        const at = path.replace(/^\/api\/v1/, '').replace(/\{ref\}/, owner);
        if (at.includes('{')) throw new Error(`how is ${path} asked for?`);
        const list = async (query = '') =>
          (await cloud.api.unchecked<{ items: Listed[] }>('GET', `${at}${query}`)).body.items;
        const all = await list();
        expect(await list('?q=nothing-like-it')).toEqual([]);
        const [some] = all;
        if (some === undefined) continue;
        const id = some.id ?? some.userId ?? '';
        const found = (await list(`?q=${id.slice(0, 30).toUpperCase()}`)).map((item) => item.id ?? item.userId);
        expect([path, found]).toEqual([path, expect.arrayContaining([id])]);
        const name = some.name ?? some.userName ?? some.subject?.name;
        if (name === undefined || name.length < 4) continue;
        const byName = (await list(`?q=${encodeURIComponent(name.slice(1).toUpperCase())}`)).map(
          (item) => item.id ?? item.userId,
        );
        expect([path, byName]).toEqual([path, expect.arrayContaining([id])]);
      }
    },
    2 * minutes,
  );

  it.each([
    ['part of a name', () => 'EEDLE-W'],
    ['an address', () => address],
    ['the beginning of an id', () => 'id'],
  ])(
    'filters the list of instances by %s, and keeps it in the address',
    async (_what, text) => {
      const typed = text() === 'id' ? (await cloud.instance('needle-web')).id.slice(0, 18) : text();
      await page.goto(browser.address('instances'));
      await page.getByRole('row', { name: /other/ }).waitFor();
      await page.getByRole('searchbox').fill(typed);
      await page.getByRole('row', { name: /other/ }).waitFor({ state: 'detached' });
      await page.getByRole('row', { name: /needle-web/ }).waitFor();
      await page.waitForURL(/[?&]q=/);
      await page.reload();
      await page.getByRole('row', { name: /needle-web/ }).waitFor();
      expect(await page.getByRole('row', { name: /other/ }).count()).toBe(0);
    },
    minutes,
  );

  it.each(['images', 'flavors', 'networks', 'volumes', 'projects', 'users', 'tasks'])(
    'filters %s by part of a name',
    async (noun) => {
      const part = noun === 'images' ? 'inu' : 'eedle';
      await page.goto(browser.address(noun));
      await page.getByRole('row').nth(1).waitFor();
      await page.getByRole('searchbox').fill(part);
      await page.waitForURL(new RegExp(`q=${part}`));
      await page
        .getByRole('row', { name: new RegExp(part) })
        .first()
        .waitFor();
      await page.getByRole('searchbox').fill('nothing-like-it');
      await page.getByText('Nothing matches the filter').waitFor();
      await page.getByRole('button', { name: 'Clear the filter' }).click();
      await page.getByRole('row').nth(1).waitFor();
    },
    minutes,
  );

  const palette = async (text: string): Promise<void> => {
    await page.goto(browser.address(''));
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill(text);
  };

  it(
    'finds every noun in the palette',
    async () => {
      await palette('needle');
      for (const group of ['Instances', 'Networks', 'Volumes', 'Flavors', 'Projects', 'Users', 'Tasks']) {
        await page
          .getByRole('group', { name: group })
          .getByRole('option', { name: /needle/ })
          .first()
          .waitFor();
      }
      await palette(address);
      await page
        .getByRole('group', { name: 'Instances' })
        .getByRole('option', { name: /needle-web/ })
        .waitFor();
    },
    minutes,
  );

  it(
    'opens what was found with the return key, and shows it among the recent things',
    async () => {
      await palette('needle-w');
      await page
        .getByRole('group', { name: 'Instances' })
        .getByRole('option', { name: /needle-web/ })
        .waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'needle-web' }).waitFor();
      await palette('');
      await page
        .getByRole('group', { name: 'Recent' })
        .getByRole('option', { name: /needle-web/ })
        .waitFor();
    },
    minutes,
  );

  it(
    'does what is typed: stop needle',
    async () => {
      await palette('stop needle');
      await page
        .getByRole('group', { name: 'Actions' })
        .getByRole('option', { name: /Stop needle-web/ })
        .waitFor();
      await page.keyboard.press('Enter');
      await page.goto(browser.address('instances'));
      await page.getByRole('row', { name: /needle-web.*stopped/i }).waitFor({ timeout: minutes });
      await palette('stop needle');
      await page.getByRole('option', { name: /Stop needle-web.*It is stopped already/ }).waitFor();
      await page.keyboard.press('Escape');
    },
    2 * minutes,
  );

  it(
    'says of which project things are, and keeps filters in the address',
    async () => {
      const project = async (name: string): Promise<void> => {
        await page.getByRole('button', { name: /^Project:/ }).click();
        await page.getByRole('menuitem', { name, exact: true }).click();
      };
      for (const noun of ['instances', 'images', 'networks', 'volumes']) {
        await page.goto(browser.address(noun));
        await project('All projects');
        await page.getByRole('columnheader', { name: 'Project' }).waitFor();
        await page
          .getByRole('row', { name: /default/ })
          .first()
          .waitFor();
        await project('default');
        await page.getByRole('columnheader', { name: 'Project' }).waitFor({ state: 'detached' });
      }
      await page.goto(browser.address('instances'));
      await page.getByLabel('State').selectOption('error');
      await page.waitForURL(/state=error/);
      await page.reload();
      await page.getByText('Nothing matches the filter').waitFor();
      await project('All projects');
    },
    2 * minutes,
  );

  it(
    'scrolls through hundreds of rows: few are in the page, heading and selection stay in sight, the width is used',
    async () => {
      const database = new Client({
        host: join(cloud.directory, 'management/run/pg'),
        user: 'vcstack_owner',
        database: 'vcstack',
        password: readFileSync(join(cloud.directory, 'management/state/postgres/owner-password'), 'utf8').trim(),
      });
      await database.connect();
      await database.query(`
      INSERT INTO instance SELECT (jsonb_populate_record(i, jsonb_build_object('id', gen_random_uuid(), 'name', 'row-' || n, 'hostname', 'row-' || n, 'host_id', NULL, 'state', 'stopped', 'power', 'off', 'created_at', i.created_at - n * interval '1 minute'))).*
      FROM instance i, generate_series(1, 520) n WHERE i.name = 'other'`);
      await database.end();
      await page.setViewportSize({ width: 1920, height: 1080 });
      await page.goto(browser.address('instances'));
      await page.getByRole('row', { name: /other/ }).waitFor();
      const inSight = async (what: Locator): Promise<void> => {
        const box = await what.boundingBox();
        expect(box?.y).toBeGreaterThanOrEqual(0);
        expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(1080);
      };
      const nodes = (): Promise<number> => page.locator('*').count();
      await eventually('the last row', async () => {
        await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
        return (await page.getByRole('link', { name: 'row-520', exact: true }).count()) === 1;
      });
      expect(await page.getByRole('table', { name: 'Instances' }).getAttribute('aria-rowcount')).toBe('523');
      expect(await nodes()).toBeLessThan(3000);
      await inSight(page.getByRole('columnheader', { name: 'Name' }));
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight / 2)');
      const middle = page.getByRole('checkbox', { name: /^Select row-2[0-9]+$/ }).nth(10);
      await middle.check();
      expect(await nodes()).toBeLessThan(3000);
      await inSight(page.getByRole('columnheader', { name: 'Name' }));
      await inSight(page.getByRole('toolbar', { name: 'Actions for the selection' }));
      await page.getByText('1 selected').waitFor();
      expect((await page.getByRole('table', { name: 'Instances' }).boundingBox())?.width).toBeGreaterThan(1500);
      // Nobody counted them all: the overview says the least that there is.
      await page.getByRole('link', { name: 'Overview' }).first().click();
      await page
        .getByRole('main')
        .getByRole('link', { name: /^Instances\s*500\+\s*\d+\+ running/ })
        .waitFor();
    },
    2 * minutes,
  );

  it('threw nothing in the browser', () => expect(browser.errors).toEqual([]));
});
