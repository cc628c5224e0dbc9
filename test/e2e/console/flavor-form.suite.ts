import type { Page } from 'playwright-core';
import type { TestCloud } from '../../support/cloud';
import type { ConsoleBrowser } from '../../support/console-browser';

/** The form of a flavor, in a browser. */
export const flavorFormCases = (at: () => { cloud: TestCloud; browser: ConsoleBrowser; page: Page }): void => {
  it('says in a form what the hardware of a flavor is, and refuses memory that its pages do not make up', async () => {
    const { cloud, browser, page } = at();
    await page.goto(browser.address('flavors?new=1'));
    const form = page.getByRole('dialog');
    await form.getByLabel('Name').fill('made-huge');
    await form.getByLabel('Memory', { exact: true }).fill('513 MiB');
    await form.getByLabel(/^Huge pages/).selectOption('2MiB');
    await form.getByLabel(/^CPU model/).fill('Nehalem');
    await form.getByLabel(/^Shared memory/).check();
    await form.getByText('--page-size 2MiB --shared-memory --cpu-model Nehalem').waitFor();
    await form.getByRole('button', { name: 'Create flavor' }).click();
    await form.getByText('With pages of 2MiB memory must be a multiple of 2MiB.').waitFor();
    await form.getByLabel('Memory', { exact: true }).fill('512 MiB');
    await form.getByRole('button', { name: 'Create flavor' }).click();
    await page
      .getByRole('row', { name: /made-huge/ })
      .getByText('Page size 2MiB; shared memory; CPU model Nehalem')
      .waitFor();
    const { items } = await cloud.api.ok('GET', '/flavors?q=made-huge');
    expect(items[0]?.hardware).toEqual({
      ...{ pageSize: '2MiB', sharedMemory: true, cpuModel: 'Nehalem' },
      ...{ cpuPolicy: 'shared', numaNodes: null },
    });
    await cloud.api.ok('DELETE', '/flavors/made-huge');
  });

  it('says in a form that CPUs are dedicated, and over how many NUMA nodes', async () => {
    const { cloud, browser, page } = at();
    await page.goto(browser.address('flavors?new=1'));
    const form = page.getByRole('dialog');
    await form.getByLabel('Name').fill('made-own');
    await form.getByLabel(/^NUMA nodes/).fill('2');
    await form.getByRole('button', { name: 'Create flavor' }).click();
    await form.getByText('Needs dedicated CPUs.').waitFor();
    await form.getByLabel(/^Dedicated CPUs/).check();
    await form.getByText('1 vCPUs and 512 MiB of memory cannot be spread evenly over 2 NUMA nodes.').waitFor();
    await form.getByLabel(/^vCPUs/).fill('2');
    await form.getByText('--cpu-policy dedicated --numa-nodes 2').waitFor();
    await form.getByRole('button', { name: 'Create flavor' }).click();
    await page
      .getByRole('row', { name: /made-own/ })
      .getByText('CPU policy dedicated; NUMA nodes 2')
      .waitFor();
    const { items } = await cloud.api.ok('GET', '/flavors?q=made-own');
    expect(items[0]?.hardware).toMatchObject({ cpuPolicy: 'dedicated', numaNodes: 2 });
    await cloud.api.ok('DELETE', '/flavors/made-own');
  });
};
