import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Instance } from '../../../src/modules/compute/contract/compute.api';
import { eventually, TestCloud } from '../../support/cloud';
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
    browser = await ConsoleBrowser.start(cloud.api.url);
    page = await browser.page({ name: 'admin', password: cloud.adminPassword });
  }, 4 * minutes);

  afterAll(async () => {
    await browser?.close();
    await cloud?.close();
  }, 2 * minutes);

  const choose = async (choices: readonly (readonly ['radio' | 'checkbox', RegExp])[]): Promise<void> => {
    for (const [role, name] of choices) {
      const choice = page.getByRole(role, { name }).first();
      await choice.waitFor();
      if ((await choice.getAttribute('aria-checked')) !== 'true' && !(await choice.isChecked())) await choice.click();
    }
  };

  it('logs in, and says so when the password is wrong', async () => {
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
  }, minutes);

  it('creates an instance in a form and shows it running by itself', async () => {
    await page.goto(address('instances'));
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByRole('button', { name: 'New instance' }).or(page.getByRole('link', { name: 'New instance' })).first().click();
    await page.getByLabel('Instance name').fill('from-the-browser');
    await choose([['radio', /^tiny/], ['radio', /^linux/], ['checkbox', /^n1/]]);
    await page.screenshot({ path: join(pictures, 'create.png') });
    await page.getByRole('button', { name: 'Create instance' }).click();
    await eventually('the instance running', async () => (await cloud.api.ok<{ items: Instance[] }>('GET', '/instances')).items.some((i) => i.name === 'from-the-browser' && i.state === 'running'), 60_000);
    await page.goto(address('instances'));
    await page.getByRole('row', { name: /from-the-browser.*running/i }).waitFor();
    const { taskId } = await cloud.create('second-by-rest');
    await page.getByRole('row', { name: /second-by-rest/ }).waitFor();
    await cloud.settled(taskId);
    await page.getByRole('row', { name: /second-by-rest.*running/i }).waitFor();
    await page.screenshot({ path: join(pictures, 'instances.png') });
  }, 3 * minutes);

  it('creates several of a kind with one task, and says what they will be called', async () => {
    await page.goto(address('instances/new'));
    await page.getByLabel('Instance name').fill('fleet');
    await page.getByLabel('How many').fill('0');
    await page.getByRole('button', { name: 'Create instance' }).click();
    await page.getByText('A whole number from 1 to 100.').waitFor();
    await page.getByLabel('How many').fill('2');
    await page.getByText('fleet-1 to fleet-2: all of them').waitFor();
    await choose([['radio', /^tiny/], ['radio', /^linux/], ['checkbox', /^n1/]]);
    await page.screenshot({ path: join(pictures, 'create-several.png') });
    await page.getByRole('button', { name: 'Create 2 instances' }).click();
    for (const name of ['fleet-1', 'fleet-2']) await page.getByRole('row', { name: new RegExp(`${name}.*running`, 'i') }).waitFor({ timeout: 60_000 });
    await page.screenshot({ path: join(pictures, 'several.png') });
    for (const name of ['fleet-1', 'fleet-2']) await cloud.settled((await cloud.api.ok<{ taskId: string }>('DELETE', `/instances/${(await cloud.instance(name)).id}`)).taskId);
  }, 3 * minutes);

  it('opens the serial console in a tab of its own and types into the guest', async () => {
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
  }, 2 * minutes);

  it("shows the task's steps in a drawer with an address of its own, and leaves out what the system does by itself", async () => {
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
    await page.getByLabel('State').selectOption('failed');
    await page.waitForURL(/state=failed/);
    await page.getByText('Nothing matches the filter').waitFor();
  }, 2 * minutes);

  it('tells why a task failed and what was undone, in both themes', async () => {
    await cloud.api.ok('POST', '/images?project=default', { name: 'unreachable', url: 'http://nowhere.invalid/disk.raw' });
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
  }, 2 * minutes);

  it('shows what a task waits for while its host does not answer, and cancels it', async () => {
    const { id } = await cloud.instance('second-by-rest');
    await cloud.host('h1').end('SIGKILL');
    const drawer = page.getByRole('complementary', { name: 'Task' });
    try {
      const { taskId } = await cloud.api.ok<{ taskId: string }>('POST', `/instances/${id}/actions/stop`, { force: true });
      await page.goto(address(`tasks/${taskId}`));
      await drawer.getByText(/Waiting for another try/).first().waitFor({ timeout: minutes });
      await page.screenshot({ path: join(pictures, 'task-waiting.png') });
      await drawer.getByRole('button', { name: 'Cancel task' }).click();
    } finally {
      await cloud.host('h1').start();
    }
    await drawer.getByText('Cancelled', { exact: true }).first().waitFor({ timeout: minutes });
    await cloud.hostState('h1', 'ready');
  }, 4 * minutes);

  it('deletes it once its name has been typed', async () => {
    await page.goto(address('instances'));
    await page.getByRole('button', { name: 'Actions for from-the-browser' }).click();
    await page.getByRole('menuitem', { name: /Delete/ }).click();
    const dialog = page.getByRole('alertdialog').or(page.getByRole('dialog')).first();
    await dialog.getByRole('textbox').fill('from-the-browser');
    await dialog.getByRole('button', { name: /Delete/ }).click();
    await eventually('the instance gone', async () => (await cloud.api.call('GET', '/instances/from-the-browser?project=default')).status === 404, 60_000);
    await page.goto(address('instances'));
    await page.getByRole('row', { name: /second-by-rest/ }).waitFor();
    expect(await page.getByRole('row', { name: /from-the-browser/ }).count()).toBe(0);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.screenshot({ path: join(pictures, 'instances-dark.png') });
  }, 2 * minutes);

  it('threw nothing in the browser', () => expect(browser.errors).toEqual([]));
});
