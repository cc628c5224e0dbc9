import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { TestCloud } from '../../support/cloud';
import { eventually } from '../../support/eventually';
import { ApiClient } from '../../support/api-client';
import { ConsoleBrowser, pictures } from '../../support/console-browser';

const minutes = 60_000;

describe('the console in a browser', () => {
  let cloud: TestCloud;
  let browser: ConsoleBrowser;
  let page: Page;
  const address = (path: string): string => browser.address(path);

  beforeAll(async () => {
    cloud = await TestCloud.start('web', { hosts: ['h1'] });
    await cloud.furnish();
    browser = await ConsoleBrowser.start(cloud);
    page = await browser.page({ name: 'admin', password: cloud.adminPassword });
  }, 4 * minutes);

  afterAll(async () => {
    await browser?.close();
    await cloud?.close();
  }, 2 * minutes);

  const expectInSight = async (field: Locator): Promise<void> => {
    await field.and(page.locator(':focus')).waitFor();
    const box = await field.boundingBox();
    expect(box?.y).toBeGreaterThan(0);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(800);
  };
  const choose = async (choices: readonly (readonly ['radio' | 'checkbox', RegExp])[]): Promise<void> => {
    for (const [role, name] of choices) {
      const choice = page.getByRole(role, { name }).first();
      await choice.waitFor();
      if ((await choice.getAttribute('aria-checked')) !== 'true' && !(await choice.isChecked())) await choice.click();
    }
  };

  it(
    'logs in, and says so when the password is wrong',
    async () => {
      await page.getByRole('button', { name: 'Account of admin' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByLabel('Name').fill('admin');
      await page.getByLabel('Password').fill('not the password');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').first().waitFor();
      await page.getByLabel('Password').fill(cloud.adminPassword);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await page.screenshot({ path: join(pictures, 'overview.png') });
    },
    minutes,
  );

  it(
    'creates an instance in a form and shows it running by itself',
    async () => {
      await page.goto(address('instances'));
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page
        .getByRole('button', { name: 'New instance' })
        .or(page.getByRole('link', { name: 'New instance' }))
        .first()
        .click();
      await page.getByLabel('Instance name').fill('from-the-browser');
      await choose([
        ['radio', /^tiny/],
        ['radio', /^linux/],
        ['checkbox', /^n1/],
      ]);
      await page.screenshot({ path: join(pictures, 'create.png') });
      await page.getByRole('button', { name: 'Create instance' }).click();
      await eventually(
        'the instance running',
        async () =>
          (await cloud.api.ok('GET', '/instances')).items.some(
            (i) => i.name === 'from-the-browser' && i.state === 'running',
          ),
        60_000,
      );
      await page.goto(address('instances'));
      await page.getByRole('row', { name: /from-the-browser.*running/i }).waitFor();
      const { taskId } = await cloud.create('second-by-rest');
      await page.getByRole('row', { name: /second-by-rest/ }).waitFor();
      await cloud.settled(taskId);
      await page.getByRole('row', { name: /second-by-rest.*running/i }).waitFor();
      await page.screenshot({ path: join(pictures, 'instances.png') });
    },
    3 * minutes,
  );

  it(
    'creates several of a kind with one task, and says what they will be called',
    async () => {
      await page.goto(address('instances/new'));
      await page.getByLabel('Instance name').fill('fleet');
      await page.getByLabel('How many').fill('0');
      await page.getByRole('button', { name: 'Create instance' }).click();
      await page.getByText('A whole number from 1 to 100.').waitFor();
      await page.getByLabel('How many').fill('2');
      await page.getByText('fleet-1 to fleet-2: all of them').waitFor();
      await choose([
        ['radio', /^tiny/],
        ['radio', /^linux/],
        ['checkbox', /^n1/],
      ]);
      await page.screenshot({ path: join(pictures, 'create-batch.png') });
      await page.getByRole('button', { name: 'Create 2 instances' }).click();
      for (const name of ['fleet-1', 'fleet-2'])
        await page.getByRole('row', { name: new RegExp(`${name}.*running`, 'i') }).waitFor({ timeout: 60_000 });
      await page.screenshot({ path: join(pictures, 'several.png') });
      for (const name of ['fleet-1', 'fleet-2'])
        await cloud.settled((await cloud.api.ok('DELETE', `/instances/${(await cloud.instance(name)).id}`)).taskId);
    },
    3 * minutes,
  );

  /** The form with a name and whatever else is chosen by `choices`. */
  const form = async (name: string, choices: Parameters<typeof choose>[0]): Promise<void> => {
    await page.goto(address('instances/new'));
    await page.getByLabel('Instance name').fill(name);
    await choose(choices);
  };

  it(
    'finds a choice by part of its name, and says while the form is filled in whether there is room',
    async () => {
      for (const n of [1, 2, 3, 4, 5, 6])
        await cloud.api.ok('POST', '/flavors', { name: `middle-${n}`, vcpus: 1, memoryBytes: (256 + n) * 2 ** 20 });
      await cloud.api.ok('POST', '/flavors', { name: 'giant', vcpus: 1, memoryBytes: 2 ** 42 });
      await form('roomy', [
        ['radio', /^linux/],
        ['checkbox', /^n1/],
      ]);
      const flavors = page.getByRole('group', { name: /^Flavor/ });
      await page.getByLabel('Filter flavors').fill('IAN');
      await flavors.getByRole('radio', { name: /^tiny/ }).waitFor({ state: 'detached' });
      await flavors.getByRole('radio', { name: /^giant/ }).check();
      await page
        .getByRole('list', { name: 'Why each host was refused' })
        .getByText(/memory/)
        .waitFor();
      await page.getByLabel('Filter flavors').fill('');
      await flavors.getByRole('radio', { name: /^tiny/ }).check();
      await page.getByText(/There is room now. Its hostname will be roomy/).waitFor();
    },
    minutes,
  );

  it(
    'says why a part of the form could not be loaded, and loads it when asked again',
    async () => {
      const networks = /\/api\/v1\/networks\?/;
      await page.route(networks, (route) =>
        route.fulfill({ status: 500, contentType: 'application/problem+json', body: '{}' }),
      );
      await page.goto(address('instances/new'));
      const part = page.getByRole('group', { name: /^Networks/ });
      await part.getByText(/The server could not do this/).waitFor();
      expect(await page.getByText(/There is no network/).count()).toBe(0);
      await page.unroute(networks);
      await part.getByRole('button', { name: 'Try again' }).click();
      await part.getByRole('checkbox', { name: /^n1/ }).waitFor();
    },
    minutes,
  );

  it(
    'says what is wrong once, at its field, and brings that into sight',
    async () => {
      await form('from-the-browser', [
        ['radio', /^tiny/],
        ['radio', /^linux/],
        ['checkbox', /^n1/],
      ]);
      const field = page.getByLabel('Instance name');
      const taken = page.getByText(/already.*from-the-browser|from-the-browser.*already/);
      await taken.waitFor();
      await page.getByLabel('Fixed address in n1').scrollIntoViewIfNeeded();
      await page.getByRole('button', { name: 'Create instance' }).click();
      await expectInSight(field);
      expect(await taken.count()).toBe(1);
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      expect(await field.getAttribute('aria-describedby')).toContain(await taken.getAttribute('id'));
      await field.fill('elsewhere');
      await page.getByLabel('Fixed address in n1').fill('10.99.0.5');
      await page.getByRole('button', { name: 'Create instance' }).click();
      await expectInSight(page.getByLabel('Fixed address in n1'));
      expect(await page.getByText('Not inside 10.10.0.0/24.').count()).toBe(1);
    },
    minutes,
  );

  it(
    'brings the filled form back when its task failed',
    async () => {
      const { items: hosts } = await cloud.api.ok('GET', '/hosts');
      const free = (hosts[0]?.capacity.memoryBytes ?? 0) - (hosts[0]?.capacity.memoryBytesUsed ?? 0);
      await cloud.api.ok('POST', '/flavors', {
        name: 'half',
        vcpus: 1,
        memoryBytes: 2 ** 20 * Math.floor(free / 2 ** 21 + 1),
      });
      await form('pair', [
        ['radio', /^half/],
        ['radio', /^linux/],
        ['checkbox', /^n1/],
      ]);
      await page.getByLabel('How many').fill('2');
      await page.getByText(/^More:/).click();
      await page.getByLabel(/^Description/).fill('not to be typed again');
      await page.getByRole('button', { name: 'Create 2 instances' }).click();
      await page
        .getByRole('complementary', { name: 'Task' })
        .getByRole('link', { name: 'Change and try again' })
        .click({ timeout: minutes });
      await page.waitForURL(/again=/);
      const filled = [
        page.getByLabel('Instance name'),
        page.getByLabel('How many'),
        page.getByLabel(/^Description/),
      ].map((field) => field.inputValue());
      expect(await Promise.all(filled)).toEqual(['pair', '2', 'not to be typed again']);
      for (const [role, name] of [
        ['radio', /^half/],
        ['radio', /^linux/],
        ['checkbox', /^n1/],
      ] as const)
        expect(await page.getByRole(role, { name }).isChecked()).toBe(true);
    },
    2 * minutes,
  );

  it(
    'hands a file to the guest byte for byte, and lets one choose the default route',
    async () => {
      await cloud.api.ok('POST', '/networks?project=default', { name: 'n2', subnet: '10.20.0.0/24' });
      const bytes = Buffer.from(Array.from({ length: 512 }, (_, n) => n % 256));
      await form('two-ways', [
        ['radio', /^tiny/],
        ['radio', /^linux/],
        ['checkbox', /^n1/],
        ['checkbox', /^n2/],
      ]);
      await page.getByLabel('Default route').selectOption({ label: 'By n2' });
      await page.getByText(/^More:/).click();
      await page
        .getByLabel('Take a file instead')
        .setInputFiles({ name: 'seed.gz', mimeType: 'application/gzip', buffer: bytes });
      await page.getByLabel('The same by vcctl').getByText('--user-data seed.gz').waitFor();
      expect(await page.getByLabel('The same by vcctl').textContent()).toContain('--network n2,default-route');
      const sent = page.waitForRequest((request) => request.method() === 'POST' && /\/instances\?/.test(request.url()));
      await page.getByRole('button', { name: 'Create instance' }).click();
      const body = (await sent).postDataJSON() as { userData: string; networks: { defaultRoute?: boolean }[] };
      expect(Buffer.from(body.userData, 'base64').equals(bytes)).toBe(true);
      expect(body.networks.map(({ defaultRoute }) => defaultRoute)).toEqual([undefined, true]);
      await page.getByRole('tab', { name: 'Guest data' }).click();
      await page.getByText('This is no text. The guest gets it byte for byte.').waitFor({ timeout: minutes });
      await page.getByRole('heading', { name: /user_data · 512 B/ }).waitFor();
      await page
        .getByRole('group', { name: /network_data\.json/ })
        .getByText(/ipv4/)
        .first()
        .waitFor();
      const { id, taskId } = await cloud.instance('two-ways');
      if (taskId !== null) await cloud.settled(taskId);
      await cloud.settled((await cloud.api.ok('DELETE', `/instances/${id}`)).taskId);
    },
    2 * minutes,
  );

  it(
    'opens the serial console in a tab of its own and types into the guest',
    async () => {
      const { id } = await cloud.instance('from-the-browser');
      await page.goto(address(`instances/${id}/console`));
      const terminal = page.locator('.xterm');
      await terminal.waitFor();
      const screen = await cloud.console(id);
      await screen.until(/@@ ready/);
      await terminal.click();
      await page.keyboard.type('echo typed-$((6 * 7))\n');
      await screen.until(/typed-42/);
      screen.close();
      await page.locator('.xterm-rows', { hasText: 'typed-42' }).waitFor();
      await page.screenshot({ path: join(pictures, 'serial.png') });
    },
    2 * minutes,
  );

  it(
    "shows the task's steps in a drawer with an address of its own, and leaves out what the system does by itself",
    async () => {
      await page.goto(address('tasks'));
      await page.getByRole('row', { name: /Create instance.*from-the-browser/ }).click();
      const drawer = page.getByRole('complementary', { name: 'Task' });
      await drawer.getByText('Start the virtual machine').waitFor();
      expect(page.url()).toMatch(/\/tasks\/[0-9a-f-]{36}$/);
      expect(await drawer.getByRole('listitem').count()).toBeGreaterThan(5);
      expect(await drawer.getByText(/on h1/).count()).toBeGreaterThan(2);
      await page.screenshot({ path: join(pictures, 'task.png') });
      const deep = page.url();
      await drawer.getByRole('button', { name: 'Close task' }).click();
      await page.waitForURL(/\/tasks$/);
      await page.goto(deep);
      await drawer.getByText('Start the virtual machine').waitFor();
      await page.keyboard.press('Escape');
      await page.waitForURL(/\/tasks$/);
      expect(await page.getByRole('row', { name: /Sync host/ }).count()).toBe(0);
      await page.getByRole('switch', { name: 'System tasks' }).click();
      await page.waitForURL(/system=true/);
      await page.getByLabel('State').selectOption('stuck');
      await page.waitForURL(/state=stuck/);
      await page.getByText('Nothing matches the filter').waitFor();
    },
    2 * minutes,
  );

  it(
    'tells why a task failed and what was undone, in both themes',
    async () => {
      await cloud.api.ok('POST', '/images?project=default', {
        name: 'unreachable',
        url: 'http://nowhere.invalid/disk.raw',
      });
      await page.goto(address('tasks?state=errors'));
      await page.getByRole('row', { name: /Import image.*unreachable.*Failed/ }).click({ timeout: minutes });
      const drawer = page.getByRole('complementary', { name: 'Task' });
      const story = drawer.getByRole('alert');
      await story.getByText(/“Fetch the image” failed/).waitFor();
      await story.getByText(/Check the address in a browser/).waitFor();
      await page.screenshot({ path: join(pictures, 'task-failed.png') });
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.screenshot({ path: join(pictures, 'task-failed-dark.png') });
      await page.emulateMedia({ colorScheme: 'light' });
    },
    2 * minutes,
  );

  it(
    'shows what a task waits for while its host does not answer, and cancels it',
    async () => {
      const { id } = await cloud.instance('second-by-rest');
      await cloud.host('h1').end('SIGKILL');
      const drawer = page.getByRole('complementary', { name: 'Task' });
      try {
        const { taskId } = await cloud.api.ok('POST', `/instances/${id}/actions/stop`, {
          force: true,
        });
        await page.goto(address(`tasks/${taskId}`));
        await drawer
          .getByText(/Waiting for another try/)
          .first()
          .waitFor({ timeout: minutes });
        await page.screenshot({ path: join(pictures, 'task-waiting.png') });
        await drawer.getByRole('button', { name: 'Cancel task' }).click();
      } finally {
        await cloud.host('h1').start();
      }
      await drawer.getByText('Cancelled', { exact: true }).first().waitFor({ timeout: minutes });
      await cloud.hostState('h1', 'ready');
    },
    4 * minutes,
  );

  const said = (): Promise<string | null> => page.getByRole('dialog').getByLabel('The same by vcctl').textContent();
  const openDialog = async (path: string, button: string): Promise<Locator> => {
    await page.goto(address(path));
    await page.getByRole('button', { name: button, exact: true }).first().click();
    return page.getByRole('dialog');
  };

  it(
    'edits whatever can be changed, in dialogs that say the same by vcctl',
    async () => {
      await cloud.api.ok('POST', '/ssh-keys?project=default', {
        name: 'laptop',
        publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIQ6YGHAn48JdGZEOQJX2kCmpXGYoN7JmVuJqxZcRVdC',
      });
      const { id, stopGraceSeconds } = await cloud.instance('second-by-rest');
      expect(stopGraceSeconds).toBe(30);
      await page.goto(address(`instances/${id}`));
      await page.getByRole('button', { name: 'Actions for second-by-rest' }).click();
      await page.getByRole('menuitem', { name: 'Edit…' }).click();
      await page.getByLabel('Seconds to wait').fill('2000');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('A whole number from 0 to 600.').waitFor();
      await page.getByLabel('Seconds to wait').fill('7');
      expect(await said()).toContain('vcctl instance edit second-by-rest --stop-grace 7');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('when the guest did, or after 7 s').waitFor();
      for (const [noun, old, label, value, line] of [
        ['flavors', 'tiny', 'Description', 'the smallest', "vcctl flavor edit tiny --description 'the smallest'"],
        ['images', 'linux', 'Description', 'ours', 'vcctl image edit linux --description ours'],
        ['ssh-keys', 'laptop', 'Name', 'desk', 'vcctl ssh-key rename laptop desk'],
      ] as const) {
        const dialog = await openDialog(noun, `Edit ${old}`);
        await dialog.getByLabel(label).fill(value);
        expect((await said())?.trim()).toBe(line);
        await dialog.getByRole('button', { name: 'Save' }).click();
        await page.getByRole('row', { name: new RegExp(value) }).waitFor();
      }
      // A refusal is said once, at its field.
      await cloud.api.ok('POST', '/flavors', { name: 'taken', vcpus: 1, memoryBytes: 2 ** 28 });
      const dialog = await openDialog('flavors', 'Edit tiny');
      await dialog.getByLabel('Name').fill('taken');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.getByText(/already.*taken|taken.*already/).waitFor();
      expect(await dialog.getByRole('alert').count()).toBe(0);
      await expectInSight(dialog.getByLabel('Name'));
    },
    2 * minutes,
  );

  it(
    "resets a password, ends a user's session and token, and deletes by the name",
    async () => {
      const bob = { name: 'bob', password: 'a long enough password' };
      const user = await cloud.api.ok('POST', '/users', bob);
      const asBob = new ApiClient(cloud.api.url);
      await asBob.login(bob.name, bob.password);
      await asBob.ok('POST', '/api-tokens', { name: 'backup' });
      await page.goto(address('users'));
      await page.getByRole('link', { name: 'bob' }).click();
      await page.getByRole('button', { name: /^End the session from/ }).click();
      expect(await said()).toContain('vcctl user session delete bob ');
      await page.getByRole('button', { name: 'End session' }).click();
      await page.getByText('Logged in nowhere.').waitFor();
      expect((await asBob.call('GET', '/whoami')).status).toBe(401);
      await page.getByRole('button', { name: 'Delete backup' }).click();
      expect(await said()).toContain('vcctl user api-token delete bob backup');
      await page.getByLabel(/to confirm/).fill('backup');
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByText(/^None\. A user makes tokens/).waitFor();
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      await page.getByLabel(/^New password/).fill('another long password');
      expect(await said()).toContain('vcctl user passwd bob');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await asBob.login(bob.name, 'another long password');
      await page.getByRole('button', { name: 'Delete bob' }).click();
      expect(await said()).toContain('vcctl user delete bob');
      await page.getByLabel(/to confirm/).fill('bob');
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.waitForURL(/\/users$/);
      expect((await cloud.api.call('GET', `/users/${user.id}`)).status).toBe(404);
      await asBob.close();
    },
    2 * minutes,
  );

  it(
    'changes the own password, with the end of the own tokens by choice',
    async () => {
      const own = { name: 'carol', password: 'a long enough password' };
      await cloud.api.ok('POST', '/users', own);
      const asCarol = new ApiClient(cloud.api.url);
      await asCarol.login(own.name, own.password);
      for (const name of ['kept', 'ended']) await asCarol.ok('POST', '/api-tokens', { name });
      await asCarol.close();
      const hers = await browser.page(own);
      await hers.goto(address('account'));
      await hers.getByRole('row', { name: /ended/ }).waitFor();
      await hers.getByLabel('Current password').fill(own.password);
      await hers.getByLabel('New password').fill('another long password');
      await hers.getByLabel(/^End my API tokens too/).check();
      expect(await hers.getByLabel('The same by vcctl').textContent()).toContain('vcctl user passwd --revoke-tokens');
      await hers.getByRole('button', { name: 'Change password' }).click();
      await hers.getByText(/^No tokens\./).waitFor();
      await hers.context().close();
    },
    minutes,
  );

  it(
    'has a host try its virtual machine monitors anew',
    async () => {
      await page.goto(address('hosts'));
      await page.getByRole('link', { name: 'h1' }).click();
      await page.getByRole('button', { name: 'Test', exact: true }).click();
      await page.getByRole('complementary', { name: 'Task' }).waitFor();
      await eventually(
        'the end of the test',
        async () => {
          const { items } = await cloud.api.ok('GET', '/tasks?type=host.test');
          return items[0]?.state === 'succeeded';
        },
        minutes,
      );
      await cloud.hostState('h1', 'ready');
    },
    2 * minutes,
  );

  it(
    'deletes it once its name has been typed',
    async () => {
      await page.goto(address('instances'));
      await page.getByRole('button', { name: 'Actions for from-the-browser' }).click();
      await page.getByRole('menuitem', { name: /Delete/ }).click();
      const dialog = page.getByRole('alertdialog').or(page.getByRole('dialog')).first();
      await dialog.getByRole('textbox').fill('from-the-browser');
      await dialog.getByRole('button', { name: /Delete/ }).click();
      await eventually(
        'the instance gone',
        async () => (await cloud.api.call('GET', '/instances/from-the-browser?project=default')).status === 404,
        60_000,
      );
      await page.goto(address('instances'));
      await page.getByRole('row', { name: /second-by-rest/ }).waitFor();
      expect(await page.getByRole('row', { name: /from-the-browser/ }).count()).toBe(0);
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.screenshot({ path: join(pictures, 'instances-dark.png') });
    },
    2 * minutes,
  );

  it('threw nothing in the browser', () => expect(browser.errors).toEqual([]));
});
