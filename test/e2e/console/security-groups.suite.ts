import type { Page } from 'playwright-core';
import type { TestCloud } from '../../support/cloud';
import type { ConsoleBrowser } from '../../support/console-browser';

const minutes = 60_000;

/** Rules are added to a group and taken away again, as people do it. */
export const securityGroupCases = (at: () => { cloud: TestCloud; browser: ConsoleBrowser; page: Page }): void => {
  it(
    'adds rules to a security group and deletes one',
    async () => {
      const { cloud, browser, page } = at();
      const group = await cloud.api.ok('POST', '/security-groups?project=default', { name: 'shop' });
      const rules = async () =>
        (await cloud.api.ok('GET', `/security-groups/${group.id}`)).rules.map(
          ({ direction, protocol, portMin, portMax, remoteCidr, remoteGroup }) =>
            [direction, protocol, portMin, portMax, remoteCidr, remoteGroup?.name]
              .map((value) => value ?? '-')
              .join(' '),
        );
      await page.goto(browser.address(`security-groups/${group.id}`));
      const section = (name: string) => page.getByRole('region', { name });
      const form = page.getByRole('dialog');

      await section('May come in').getByRole('button', { name: 'Add rule' }).click();
      await form.getByLabel('Ports').fill('443-80');
      await form.getByRole('button', { name: 'Add rule' }).click();
      await form.getByText('A port such as 443').waitFor();
      await form.getByLabel('Ports').fill('443');
      await form.getByLabel('From').selectOption('addresses');
      await form.getByLabel('Addresses').fill('10.0.0.0/8');
      await form
        .getByText('vcctl security-group rule add shop --protocol tcp --port 443 --remote 10.0.0.0/8')
        .waitFor();
      await form.getByRole('button', { name: 'Add rule' }).click();
      await section('May come in').getByRole('cell', { name: '10.0.0.0/8' }).waitFor();

      await section('May go out').getByRole('button', { name: 'Add rule' }).click();
      await form.getByLabel('Protocol').selectOption('any');
      await form.getByLabel('To', { exact: true }).selectOption('members of a group');
      await form.getByLabel('Group').selectOption('default');
      await form.getByRole('button', { name: 'Add rule' }).click();
      await section('May go out').getByRole('link', { name: 'default' }).waitFor();
      expect((await rules()).sort()).toEqual(['egress - - - - default', 'ingress tcp 443 443 10.0.0.0/8 -']);

      await section('May come in').getByRole('button', { name: 'Delete the rule for tcp 443' }).click();
      await section('May come in').getByText('Nothing.').waitFor();
      expect(await rules()).toEqual(['egress - - - - default']);
      await cloud.api.ok('DELETE', `/security-groups/${group.id}`);
    },
    minutes,
  );
};
