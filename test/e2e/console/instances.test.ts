import { join } from 'node:path';
import { pictures } from '../../support/console-browser';
import { consoleSuite } from './console-suite';
import { coreDumpCases } from './core-dump.suite';
import { editingCases } from './editing.suite';
import { formCases } from './instance-forms.suite';
import { factCases } from './plain-facts.suite';
import { screenCases } from './screen.suite';

const minutes = 60_000;

describe('the console in a browser', () => {
  const at = consoleSuite('web');

  it(
    'logs in, and says so when the password is wrong',
    async () => {
      await at.page.getByRole('button', { name: 'Account of admin' }).click();
      await at.page.getByRole('menuitem', { name: 'Sign out' }).click();
      await at.page.getByLabel('Name').fill('admin');
      await at.page.getByLabel('Password').fill('not the password');
      await at.page.getByRole('button', { name: 'Sign in' }).click();
      await at.page.getByRole('alert').first().waitFor();
      await at.page.getByLabel('Password').fill(at.cloud.adminPassword);
      await at.page.getByRole('button', { name: 'Sign in' }).click();
      await at.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await at.page.screenshot({ path: join(pictures, 'overview.png') });
    },
    minutes,
  );

  formCases(at);
  factCases(at);

  it(
    'opens the serial console in a tab of its own and types into the guest',
    async () => {
      const { id } = await at.cloud.instance('from-the-browser');
      await at.page.goto(at.address(`instances/${id}/console`));
      const terminal = at.page.locator('.xterm');
      await terminal.waitFor();
      const screen = await at.cloud.console(id);
      await screen.until(/@@ ready/);
      await terminal.click();
      await at.page.keyboard.type('echo typed-$((6 * 7))\n');
      await screen.until(/typed-42/);
      screen.close();
      await at.page.locator('.xterm-rows', { hasText: 'typed-42' }).waitFor();
      await at.page.screenshot({ path: join(pictures, 'serial.png') });
    },
    2 * minutes,
  );

  screenCases(at);
  coreDumpCases(at);

  it(
    "shows the task's steps in a drawer with an address of its own, and leaves out what the system does by itself",
    async () => {
      await at.page.goto(at.address('tasks'));
      await at.page.getByRole('row', { name: /Create instance.*from-the-browser/ }).click();
      const drawer = at.page.getByRole('complementary', { name: 'Task' });
      await drawer.getByText('Start the virtual machine').waitFor();
      expect(at.page.url()).toMatch(/\/tasks\/[0-9a-f-]{36}$/);
      expect(await drawer.getByRole('listitem').count()).toBeGreaterThan(5);
      expect(await drawer.getByText(/on h1/).count()).toBeGreaterThan(2);
      await at.page.screenshot({ path: join(pictures, 'task.png') });
      const deep = at.page.url();
      await drawer.getByRole('button', { name: 'Close task' }).click();
      await at.page.waitForURL(/\/tasks$/);
      await at.page.goto(deep);
      await drawer.getByText('Start the virtual machine').waitFor();
      await at.page.keyboard.press('Escape');
      await at.page.waitForURL(/\/tasks$/);
      expect(await at.page.getByRole('row', { name: /Sync host/ }).count()).toBe(0);
      await at.page.getByRole('switch', { name: 'System tasks' }).click();
      await at.page.waitForURL(/system=true/);
      await at.page.getByLabel('State').selectOption('stuck');
      await at.page.waitForURL(/state=stuck/);
      await at.page.getByText('Nothing matches the filter').waitFor();
    },
    2 * minutes,
  );

  it(
    'tells why a task failed and what was undone, in both themes',
    async () => {
      await at.cloud.api.ok('POST', '/images?project=default', {
        name: 'unreachable',
        url: 'http://nowhere.invalid/disk.raw',
      });
      await at.page.goto(at.address('tasks?state=errors'));
      await at.page.getByRole('row', { name: /Import image.*unreachable.*Failed/ }).click({ timeout: minutes });
      const drawer = at.page.getByRole('complementary', { name: 'Task' });
      const story = drawer.getByRole('alert');
      await story.getByText(/“Fetch the image” failed/).waitFor();
      await story.getByText(/Check the address in a browser/).waitFor();
      await at.page.screenshot({ path: join(pictures, 'task-failed.png') });
      await at.page.emulateMedia({ colorScheme: 'dark' });
      await at.page.screenshot({ path: join(pictures, 'task-failed-dark.png') });
      await at.page.emulateMedia({ colorScheme: 'light' });
    },
    2 * minutes,
  );

  it(
    'shows what a task waits for while its host does not answer, and cancels it',
    async () => {
      const { id } = await at.cloud.instance('second-by-rest');
      await at.cloud.host('h1').end('SIGKILL');
      const drawer = at.page.getByRole('complementary', { name: 'Task' });
      try {
        const { taskId } = await at.cloud.api.ok('POST', `/instances/${id}/actions/stop`, {
          force: true,
        });
        await at.page.goto(at.address(`tasks/${taskId}`));
        await drawer
          .getByText(/Waiting for another try/)
          .first()
          .waitFor({ timeout: minutes });
        await at.page.screenshot({ path: join(pictures, 'task-waiting.png') });
        await drawer.getByRole('button', { name: 'Cancel task' }).click();
      } finally {
        await at.cloud.host('h1').start();
      }
      await drawer.getByText('Cancelled', { exact: true }).first().waitFor({ timeout: minutes });
      await at.cloud.hostState('h1', 'ready');
    },
    4 * minutes,
  );

  editingCases(at);

  it('threw nothing in the browser', () => expect(at.browser.errors).toEqual([]));
});
