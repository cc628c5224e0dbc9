import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { ApiClient } from '../../support/api-client';
import { pictures } from '../../support/console-browser';
import { eventually } from '../../support/eventually';
import type { ConsoleSuite } from './console-suite';

const minutes = 60_000;

/** Dialogs that change and remove what there is. */
export const editingCases = (at: ConsoleSuite): void => {
  const said = (): Promise<string | null> => at.page.getByRole('dialog').getByLabel('The same by vcctl').textContent();
  const openDialog = async (path: string, button: string): Promise<Locator> => {
    await at.page.goto(at.address(path));
    await at.page.getByRole('button', { name: button, exact: true }).first().click();
    return at.page.getByRole('dialog');
  };

  it(
    'attaches a network interface to a running instance, and detaches it again',
    async () => {
      const { id } = await at.cloud.instance('second-by-rest');
      const screen = await at.cloud.console(id);
      await screen.until(/@@ ready/);
      screen.close();
      const card = at.page.getByRole('table', { name: 'Network interfaces' });
      await at.page.goto(at.address(`instances/${id}`));
      expect(await card.getByRole('button', { name: /^Detach / }).getAttribute('aria-disabled')).toBe('true');
      const dialog = await openDialog(`instances/${id}`, 'Attach…');
      await dialog.getByRole('button', { name: 'Attach' }).click();
      await dialog.getByText('Choose a network.').waitFor();
      await dialog.getByLabel('Network').selectOption({ label: 'n1 (10.10.0.0/24)' });
      await dialog.getByLabel('Address').fill('10.11.0.9');
      await dialog.getByRole('button', { name: 'Attach' }).click();
      await dialog.getByText('Not inside 10.10.0.0/24.').waitFor();
      await dialog.getByLabel('Address').fill('10.10.0.99');
      expect((await said())?.trim()).toBe(
        'vcctl instance attach-port second-by-rest --network n1 --address 10.10.0.99',
      );
      await dialog.getByRole('button', { name: 'Attach' }).click();
      await card.getByText('10.10.0.99').waitFor();
      await eventually('the task at its end', async () => (await at.cloud.instance(id)).taskId === null);
      await card.getByRole('button', { name: 'Detach 10.10.0.99' }).click();
      await at.page.getByLabel('Type 10.10.0.99 to confirm').fill('10.10.0.99');
      await at.page.getByRole('dialog').getByRole('button', { name: 'Detach' }).click();
      await card.getByText('10.10.0.99').waitFor({ state: 'detached' });
      expect((await at.cloud.instance(id)).ports.length).toBe(1);
    },
    3 * minutes,
  );

  it(
    'makes a volume, attaches it to a running instance, detaches it again, and deletes it',
    async () => {
      const { id } = await at.cloud.instance('second-by-rest');
      const making = await openDialog('volumes', 'New volume');
      await making.getByRole('textbox', { name: 'Name' }).fill('from-console');
      await making.getByLabel('Size').fill('much');
      await making.getByRole('button', { name: 'Create volume' }).click();
      await making.getByText('A size such as 10 GiB.').waitFor();
      await making.getByLabel('Size').fill('64 MiB');
      await making.getByLabel('For instance').selectOption({ label: 'second-by-rest' });
      expect((await said())?.trim()).toBe('vcctl volume create from-console --size 64MiB --instance second-by-rest');
      await at.page.screenshot({ path: join(pictures, 'volume-new.png') });
      await making.getByRole('button', { name: 'Create volume' }).click();
      await making.waitFor({ state: 'hidden' });
      const state = async (): Promise<string> =>
        (await at.cloud.api.ok('GET', '/volumes/from-console?project=default')).state;
      await eventually('the volume', async () => (await state()) === 'available');

      await at.page.goto(at.address(`instances/${id}`));
      await at.page.getByRole('button', { name: 'Attach…', exact: true }).nth(1).click();
      const dialog = at.page.getByRole('dialog');
      await dialog.getByLabel('Volume').selectOption({ label: 'from-console (64 MiB)' });
      expect((await said())?.trim()).toBe('vcctl instance attach-volume second-by-rest from-console');
      await dialog.getByRole('button', { name: 'Attach' }).click();
      await eventually('the volume attached', async () => (await state()) === 'in-use');
      await at.page.goto(at.address(`instances/${id}`));
      const disks = at.page.getByRole('table', { name: 'Disks' });
      await disks.getByRole('button', { name: 'Detach from-console' }).waitFor();
      await at.page.screenshot({ path: join(pictures, 'instance-disks.png'), fullPage: true });
      await disks.getByRole('button', { name: 'Detach from-console' }).click();
      await dialog.getByRole('textbox').fill('from-console');
      await dialog.getByRole('button', { name: 'Detach' }).click();
      await eventually('the volume detached', async () => (await state()) === 'available');

      await at.page.goto(at.address('volumes'));
      await at.page.getByRole('button', { name: 'Delete from-console' }).waitFor();
      await at.page.screenshot({ path: join(pictures, 'volumes.png') });
      await at.page.getByRole('button', { name: 'Delete from-console' }).click();
      await dialog.getByRole('textbox').fill('from-console');
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await eventually(
        'the volume gone',
        async () => (await at.cloud.api.call('GET', '/volumes/from-console?project=default')).status === 404,
      );
    },
    3 * minutes,
  );

  it(
    'edits whatever can be changed, in dialogs that say the same by vcctl',
    async () => {
      await at.cloud.api.ok('POST', '/ssh-keys?project=default', {
        name: 'laptop',
        publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIQ6YGHAn48JdGZEOQJX2kCmpXGYoN7JmVuJqxZcRVdC',
      });
      const { id, stopGraceSeconds } = await at.cloud.instance('second-by-rest');
      expect(stopGraceSeconds).toBe(30);
      await at.page.goto(at.address(`instances/${id}`));
      await at.page.getByRole('button', { name: 'Actions for second-by-rest' }).click();
      await at.page.getByRole('menuitem', { name: 'Edit…' }).click();
      await at.page.getByLabel('Seconds to wait').fill('2000');
      await at.page.getByRole('button', { name: 'Save' }).click();
      await at.page.getByText('A whole number from 0 to 600.').waitFor();
      await at.page.getByLabel('Seconds to wait').fill('7');
      expect(await said()).toContain('vcctl instance edit second-by-rest --stop-grace 7');
      await at.page.getByRole('button', { name: 'Save' }).click();
      await at.page.getByText('when the guest did, or after 7 s').waitFor();
      for (const [noun, old, label, value, line] of [
        ['flavors', 'tiny', 'Description', 'the smallest', "vcctl flavor edit tiny --description 'the smallest'"],
        ['images', 'linux', 'Description', 'ours', 'vcctl image edit linux --description ours'],
        ['ssh-keys', 'laptop', 'Name', 'desk', 'vcctl ssh-key rename laptop desk'],
      ] as const) {
        const dialog = await openDialog(noun, `Edit ${old}`);
        await dialog.getByLabel(label).fill(value);
        expect((await said())?.trim()).toBe(line);
        await dialog.getByRole('button', { name: 'Save' }).click();
        await at.page.getByRole('row', { name: new RegExp(value) }).waitFor();
      }
      // A refusal is said once, at its field.
      await at.cloud.api.ok('POST', '/flavors', { name: 'taken', vcpus: 1, memoryBytes: 2 ** 28 });
      const dialog = await openDialog('flavors', 'Edit tiny');
      await dialog.getByLabel('Name').fill('taken');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.getByText(/already.*taken|taken.*already/).waitFor();
      expect(await dialog.getByRole('alert').count()).toBe(0);
      await at.expectInSight(dialog.getByLabel('Name'));
    },
    2 * minutes,
  );

  it(
    "resets a password, ends a user's session and token, and deletes by the name",
    async () => {
      const bob = { name: 'bob', password: 'a long enough password' };
      const user = await at.cloud.api.ok('POST', '/users', bob);
      const asBob = new ApiClient(at.cloud.api.url);
      await asBob.login(bob.name, bob.password);
      await asBob.ok('POST', '/api-tokens', { name: 'backup' });
      await at.page.goto(at.address('users'));
      await at.page.getByRole('link', { name: 'bob' }).click();
      await at.page.getByRole('button', { name: /^End the session from/ }).click();
      expect(await said()).toContain('vcctl user session delete bob ');
      await at.page.getByRole('button', { name: 'End session' }).click();
      await at.page.getByText('Logged in nowhere.').waitFor();
      expect((await asBob.call('GET', '/whoami')).status).toBe(401);
      await at.page.getByRole('button', { name: 'Delete backup' }).click();
      expect(await said()).toContain('vcctl user api-token delete bob backup');
      await at.page.getByLabel(/to confirm/).fill('backup');
      await at.page.getByRole('button', { name: 'Delete', exact: true }).click();
      await at.page.getByText(/^None\. A user makes tokens/).waitFor();
      await at.page.getByRole('button', { name: 'Edit', exact: true }).click();
      await at.page.getByLabel(/^New password/).fill('another long password');
      expect(await said()).toContain('vcctl user passwd bob');
      await at.page.getByRole('button', { name: 'Save' }).click();
      await at.page.getByRole('dialog').waitFor({ state: 'detached' });
      await asBob.login(bob.name, 'another long password');
      await at.page.getByRole('button', { name: 'Delete bob' }).click();
      expect(await said()).toContain('vcctl user delete bob');
      await at.page.getByLabel(/to confirm/).fill('bob');
      await at.page.getByRole('button', { name: 'Delete', exact: true }).click();
      await at.page.waitForURL(/\/users$/);
      expect((await at.cloud.api.call('GET', `/users/${user.id}`)).status).toBe(404);
      await asBob.close();
    },
    2 * minutes,
  );

  it(
    'changes the own password, with the end of the own tokens by choice',
    async () => {
      const own = { name: 'carol', password: 'a long enough password' };
      await at.cloud.api.ok('POST', '/users', own);
      const asCarol = new ApiClient(at.cloud.api.url);
      await asCarol.login(own.name, own.password);
      for (const name of ['kept', 'ended']) await asCarol.ok('POST', '/api-tokens', { name });
      await asCarol.close();
      const hers = await at.browser.page(own);
      await hers.goto(at.address('account'));
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
      await at.page.goto(at.address('hosts'));
      await at.page.getByRole('link', { name: 'h1' }).click();
      await at.page.getByRole('button', { name: 'Test', exact: true }).click();
      await at.page.getByRole('complementary', { name: 'Task' }).waitFor();
      await eventually(
        'the end of the test',
        async () => {
          const { items } = await at.cloud.api.ok('GET', '/tasks?type=host.test');
          return items[0]?.state === 'succeeded';
        },
        minutes,
      );
      await at.cloud.hostState('h1', 'ready');
    },
    2 * minutes,
  );

  it(
    'lists what a host has that belongs to nothing, and removes it once the host has been named',
    async () => {
      const id = randomUUID();
      const folder = join(at.cloud.stateOf('h1'), 'instances', id);
      mkdirSync(folder, { recursive: true });
      await at.page.goto(at.address('hosts'));
      await at.page.getByRole('link', { name: 'h1' }).click();
      await at.page.getByRole('button', { name: 'Look', exact: true }).click();
      await at.page.getByRole('button', { name: `Remove instance-folder:${id}` }).click();
      const dialog = at.page.getByRole('dialog');
      await dialog.getByRole('listitem').filter({ hasText: id }).waitFor();
      expect(await said()).toContain(`vcctl host remove-leftovers h1 instance-folder:${id}`);
      await dialog.getByLabel(/to confirm/).fill('h1');
      await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
      await at.page.getByRole('complementary', { name: 'Task' }).waitFor();
      await eventually('the end of the folder', async () => !existsSync(folder), minutes);
    },
    2 * minutes,
  );

  it(
    'deletes it once its name has been typed',
    async () => {
      await at.page.goto(at.address('instances'));
      await at.page.getByRole('button', { name: 'Actions for from-the-browser' }).click();
      await at.page.getByRole('menuitem', { name: /Delete/ }).click();
      const dialog = at.page.getByRole('alertdialog').or(at.page.getByRole('dialog')).first();
      await dialog.getByRole('textbox').fill('from-the-browser');
      await dialog.getByRole('button', { name: /Delete/ }).click();
      await eventually(
        'the instance gone',
        async () => (await at.cloud.api.call('GET', '/instances/from-the-browser?project=default')).status === 404,
        60_000,
      );
      await at.page.goto(at.address('instances'));
      await at.page.getByRole('row', { name: /second-by-rest/ }).waitFor();
      expect(await at.page.getByRole('row', { name: /from-the-browser/ }).count()).toBe(0);
      await at.page.emulateMedia({ colorScheme: 'dark' });
      await at.page.screenshot({ path: join(pictures, 'instances-dark.png') });
    },
    2 * minutes,
  );
};
