import { join } from 'node:path';
import { pictures } from '../../support/console-browser';
import { eventually } from '../../support/eventually';
import type { ConsoleSuite } from './console-suite';

const minutes = 60_000;

/** The forms that make instances, from the first to several at once. */
export const formCases = (at: ConsoleSuite): void => {
  it(
    'creates an instance in a form and shows it running by itself',
    async () => {
      await at.page.goto(at.address('instances'));
      await at.page.getByRole('heading', { level: 1 }).waitFor();
      await at.page
        .getByRole('button', { name: 'New instance' })
        .or(at.page.getByRole('link', { name: 'New instance' }))
        .first()
        .click();
      await at.page.getByLabel('Instance name').fill('from-the-browser');
      await at.choose([
        ['radio', /^tiny/],
        ['radio', /^linux/],
        ['checkbox', /^n1/],
      ]);
      await at.page.screenshot({ path: join(pictures, 'create.png') });
      await at.page.getByRole('button', { name: 'Create instance' }).click();
      await eventually(
        'the instance running',
        async () =>
          (await at.cloud.api.ok('GET', '/instances')).items.some(
            (i) => i.name === 'from-the-browser' && i.state === 'running',
          ),
        60_000,
      );
      await at.page.goto(at.address('instances'));
      await at.page.getByRole('row', { name: /from-the-browser.*running/i }).waitFor();
      const { taskId } = await at.cloud.create('second-by-rest');
      await at.page.getByRole('row', { name: /second-by-rest/ }).waitFor();
      await at.cloud.settled(taskId);
      await at.page.getByRole('row', { name: /second-by-rest.*running/i }).waitFor();
      await at.page.screenshot({ path: join(pictures, 'instances.png') });
    },
    3 * minutes,
  );

  it(
    'creates several of a kind with one task, and says what they will be called',
    async () => {
      await at.page.goto(at.address('instances/new'));
      await at.page.getByLabel('Instance name').fill('fleet');
      await at.page.getByLabel('How many').fill('0');
      await at.page.getByRole('button', { name: 'Create instance' }).click();
      await at.page.getByText('A whole number from 1 to 100.').waitFor();
      await at.page.getByLabel('How many').fill('2');
      await at.page.getByText('fleet-1 to fleet-2: all of them').waitFor();
      await at.choose([
        ['radio', /^tiny/],
        ['radio', /^linux/],
        ['checkbox', /^n1/],
      ]);
      await at.page.screenshot({ path: join(pictures, 'create-batch.png') });
      await at.page.getByRole('button', { name: 'Create 2 instances' }).click();
      for (const name of ['fleet-1', 'fleet-2'])
        await at.page.getByRole('row', { name: new RegExp(`${name}.*running`, 'i') }).waitFor({ timeout: 60_000 });
      await at.page.screenshot({ path: join(pictures, 'several.png') });
      for (const name of ['fleet-1', 'fleet-2'])
        await at.cloud.settled(
          (await at.cloud.api.ok('DELETE', `/instances/${(await at.cloud.instance(name)).id}`)).taskId,
        );
    },
    3 * minutes,
  );

  /** The form with a name and whatever else is chosen by `choices`. */
  const form = async (name: string, choices: Parameters<ConsoleSuite['choose']>[0]): Promise<void> => {
    await at.page.goto(at.address('instances/new'));
    await at.page.getByLabel('Instance name').fill(name);
    await at.choose(choices);
  };

  it(
    'finds a choice by part of its name, and says while the form is filled in whether there is room',
    async () => {
      for (const n of [1, 2, 3, 4, 5, 6])
        await at.cloud.api.ok('POST', '/flavors', { name: `middle-${n}`, vcpus: 1, memoryBytes: (256 + n) * 2 ** 20 });
      await at.cloud.api.ok('POST', '/flavors', { name: 'giant', vcpus: 1, memoryBytes: 2 ** 42 });
      await form('roomy', [
        ['radio', /^linux/],
        ['checkbox', /^n1/],
      ]);
      const flavors = at.page.getByRole('group', { name: /^Flavor/ });
      await at.page.getByLabel('Filter flavors').fill('IAN');
      await flavors.getByRole('radio', { name: /^tiny/ }).waitFor({ state: 'detached' });
      await flavors.getByRole('radio', { name: /^giant/ }).check();
      await at.page
        .getByRole('list', { name: 'Why each host was refused' })
        .getByText(/memory/)
        .waitFor();
      await at.page.getByLabel('Filter flavors').fill('');
      await flavors.getByRole('radio', { name: /^tiny/ }).check();
      await at.page.getByText(/There is room now. Its hostname will be roomy/).waitFor();
    },
    minutes,
  );

  it(
    'says why a part of the form could not be loaded, and loads it when asked again',
    async () => {
      const networks = /\/api\/v1\/networks\?/;
      await at.page.route(networks, (route) =>
        route.fulfill({ status: 500, contentType: 'application/problem+json', body: '{}' }),
      );
      await at.page.goto(at.address('instances/new'));
      const part = at.page.getByRole('group', { name: /^Networks/ });
      await part.getByText(/The server could not do this/).waitFor();
      expect(await at.page.getByText(/There is no network/).count()).toBe(0);
      await at.page.unroute(networks);
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
      const field = at.page.getByLabel('Instance name');
      const taken = at.page.getByText(/already.*from-the-browser|from-the-browser.*already/);
      await taken.waitFor();
      await at.page.getByLabel('Fixed address in n1').scrollIntoViewIfNeeded();
      await at.page.getByRole('button', { name: 'Create instance' }).click();
      await at.expectInSight(field);
      expect(await taken.count()).toBe(1);
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      expect(await field.getAttribute('aria-describedby')).toContain(await taken.getAttribute('id'));
      await field.fill('elsewhere');
      await at.page.getByLabel('Fixed address in n1').fill('10.99.0.5');
      await at.page.getByRole('button', { name: 'Create instance' }).click();
      await at.expectInSight(at.page.getByLabel('Fixed address in n1'));
      expect(await at.page.getByText('Not inside 10.10.0.0/24.').count()).toBe(1);
    },
    minutes,
  );

  it(
    'brings the filled form back when its task failed',
    async () => {
      const { items: hosts } = await at.cloud.api.ok('GET', '/hosts');
      const free = (hosts[0]?.capacity.memoryBytes ?? 0) - (hosts[0]?.capacity.memoryBytesUsed ?? 0);
      await at.cloud.api.ok('POST', '/flavors', {
        name: 'half',
        vcpus: 1,
        memoryBytes: 2 ** 20 * Math.floor(free / 2 ** 21 + 1),
      });
      await form('pair', [
        ['radio', /^half/],
        ['radio', /^linux/],
        ['checkbox', /^n1/],
      ]);
      await at.page.getByLabel('How many').fill('2');
      await at.page.getByText(/^More:/).click();
      await at.page.getByLabel(/^Description/).fill('not to be typed again');
      await at.page.getByRole('button', { name: 'Create 2 instances' }).click();
      await at.page
        .getByRole('complementary', { name: 'Task' })
        .getByRole('link', { name: 'Change and try again' })
        .click({ timeout: minutes });
      await at.page.waitForURL(/again=/);
      const filled = [
        at.page.getByLabel('Instance name'),
        at.page.getByLabel('How many'),
        at.page.getByLabel(/^Description/),
      ].map((field) => field.inputValue());
      expect(await Promise.all(filled)).toEqual(['pair', '2', 'not to be typed again']);
      for (const [role, name] of [
        ['radio', /^half/],
        ['radio', /^linux/],
        ['checkbox', /^n1/],
      ] as const)
        expect(await at.page.getByRole(role, { name }).isChecked()).toBe(true);
    },
    2 * minutes,
  );

  it(
    'hands a file to the guest byte for byte, and lets one choose the default route',
    async () => {
      await at.cloud.api.ok('POST', '/networks?project=default', { name: 'n2', subnet: '10.20.0.0/24' });
      const bytes = Buffer.from(Array.from({ length: 512 }, (_, n) => n % 256));
      await form('two-ways', [
        ['radio', /^tiny/],
        ['radio', /^linux/],
        ['checkbox', /^n1/],
        ['checkbox', /^n2/],
      ]);
      await at.page.getByLabel('Default route').selectOption({ label: 'By n2' });
      await at.page.getByText(/^More:/).click();
      await at.page
        .getByLabel('Take a file instead')
        .setInputFiles({ name: 'seed.gz', mimeType: 'application/gzip', buffer: bytes });
      await at.page.getByLabel('The same by vcctl').getByText('--user-data seed.gz').waitFor();
      expect(await at.page.getByLabel('The same by vcctl').textContent()).toContain('--network n2,default-route');
      const sent = at.page.waitForRequest(
        (request) => request.method() === 'POST' && /\/instances\?/.test(request.url()),
      );
      await at.page.getByRole('button', { name: 'Create instance' }).click();
      const body = (await sent).postDataJSON() as { userData: string; networks: { defaultRoute?: boolean }[] };
      expect(Buffer.from(body.userData, 'base64').equals(bytes)).toBe(true);
      expect(body.networks.map(({ defaultRoute }) => defaultRoute)).toEqual([undefined, true]);
      await at.page.getByRole('tab', { name: 'Guest data' }).click();
      await at.page.getByText('This is no text. The guest gets it byte for byte.').waitFor({ timeout: minutes });
      await at.page.getByRole('heading', { name: /user_data · 512 B/ }).waitFor();
      await at.page
        .getByRole('group', { name: /network_data\.json/ })
        .getByText(/ipv4/)
        .first()
        .waitFor();
      const { id, taskId } = await at.cloud.instance('two-ways');
      if (taskId !== null) await at.cloud.settled(taskId);
      await at.cloud.settled((await at.cloud.api.ok('DELETE', `/instances/${id}`)).taskId);
    },
    2 * minutes,
  );
};
