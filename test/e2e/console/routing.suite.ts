import type { Page } from 'playwright-core';
import type { TestCloud } from '../../support/cloud';
import type { ConsoleBrowser } from '../../support/console-browser';

const minutes = 60_000;

/** A subnet is added to a network, put on a router, taken off and deleted, as people do it. */
export const routingCases = (at: () => { cloud: TestCloud; browser: ConsoleBrowser; page: Page }): void => {
  it(
    'gives a network one more subnet, puts it on a router and takes both back',
    async () => {
      const { cloud, browser, page } = at();
      const network = await cloud.api.ok('POST', '/networks?project=default', {
        name: 'routed',
        subnet: '10.91.0.0/24',
        nat: false,
      });
      const router = await cloud.api.ok('POST', '/routers?project=default', { name: 'between', snat: false });
      await page.goto(browser.address(`networks/${network.id}`));
      await page.getByRole('button', { name: 'Add subnet' }).click();
      const form = page.getByRole('dialog');
      await form.getByLabel('Name').fill('routed-b');
      await form.getByLabel('Addresses').fill('10.91.0.0/25');
      await form.getByRole('button', { name: 'Add subnet' }).click();
      // What is wrong with it is said where it was filled in.
      await form.getByText(/overlaps another subnet/).waitFor();
      await form.getByLabel('Addresses').fill('10.92.0.0/24');
      await form.getByRole('button', { name: 'Add subnet' }).click();
      await page.getByRole('cell', { name: '10.92.0.0/24' }).waitFor();

      await page.goto(browser.address(`routers/${router.id}`));
      await page.getByLabel('Subnet', { exact: true }).selectOption({ label: 'routed-b (10.92.0.0/24) of routed' });
      await page.getByRole('button', { name: 'Put on router' }).click();
      await page.getByRole('cell', { name: '10.92.0.0/24' }).waitFor();
      expect((await cloud.api.ok('GET', `/routers/${router.id}`)).subnets.map(({ name }) => name)).toEqual([
        'routed-b',
      ]);
      await page.getByRole('button', { name: 'Take routed-b off' }).click();
      await page.getByText('None yet: put at least one on it.').waitFor();

      await page.goto(browser.address(`networks/${network.id}`));
      await page.getByRole('button', { name: 'Delete routed-b' }).click();
      await page.getByLabel(/to confirm/).fill('routed-b');
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByRole('cell', { name: '10.92.0.0/24' }).waitFor({ state: 'detached' });
      await cloud.api.ok('DELETE', `/networks/${network.id}`);
      await cloud.api.ok('DELETE', `/routers/${router.id}`);
    },
    minutes,
  );
};
