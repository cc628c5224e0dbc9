import { join } from 'node:path';
import { pictures } from '../../support/console-browser';
import type { ConsoleSuite } from './console-suite';

const minutes = 60_000;

/** What pages say of a thing, and where they lead. Two instances run: `from-the-browser` and `second-by-rest`. */
export const factCases = (at: ConsoleSuite): void => {
  const main = () => at.page.getByRole('main');

  it(
    'leads from an instance to what it stands on, and says who did what by name',
    async () => {
      const { id, projectId, image, host, ports } = await at.cloud.instance('from-the-browser');
      await at.page.goto(at.address(`instances/${id}`));
      for (const [name, path] of [
        ['linux', `/console/images?q=${image.id}`],
        ['h1', `/console/hosts/${host?.id ?? ''}`],
        ['n1', `/console/networks/${ports[0]?.networkId ?? ''}`],
        ['default', `/console/projects/${projectId}`],
      ] as const)
        expect(await main().getByRole('link', { name, exact: true }).getAttribute('href')).toBe(path);
      // Of a host that is heard, what it last said is what is.
      expect(await main().getByText('Last report').count()).toBe(0);
      await main().getByRole('link', { name: 'n1', exact: true }).click();
      await at.page.waitForURL(/\/networks\/[0-9a-f-]{36}$/);
      await main().getByText("Not the cloud's own hosts", { exact: false }).waitFor();
      await at.page
        .getByRole('table', { name: 'Ports' })
        .getByRole('link', { name: 'from-the-browser', exact: true })
        .click();
      await at.page.getByRole('heading', { level: 1, name: 'from-the-browser' }).waitFor();
      const { items } = await at.cloud.api.ok('GET', `/tasks?subject=${id}`);
      await at.page.goto(at.address(`tasks/${items.at(-1)?.id ?? ''}`));
      await at.page.getByRole('complementary', { name: 'Task' }).getByText('admin', { exact: true }).waitFor();
    },
    minutes,
  );

  it(
    'shows what was stopped on request as off, in no colour of well or ill',
    async () => {
      const { id } = await at.cloud.instance('second-by-rest');
      const act = async (action: 'stop' | 'start'): Promise<void> => {
        const body = action === 'stop' ? { force: true } : {};
        await at.cloud.settled((await at.cloud.api.ok('POST', `/instances/${id}/actions/${action}`, body)).taskId);
      };
      await at.page.goto(at.address('instances'));
      const row = at.page.getByRole('row', { name: /second-by-rest/ });
      await row.locator('.bg-ok-soft', { hasText: 'Running' }).waitFor();
      await act('stop');
      await row.locator('.bg-idle-soft', { hasText: 'Stopped' }).waitFor();
      await at.page.goto(at.address(`instances/${id}?tab=console`));
      const toolbar = at.page.getByRole('toolbar', { name: 'Console' });
      await toolbar.getByText('Not running').waitFor();
      expect(await toolbar.locator('.bg-ok, .bg-warn').count()).toBe(0);
      await act('start');
      await toolbar.getByText('Connected', { exact: true }).waitFor();
      expect(await toolbar.locator('.bg-ok').count()).toBe(1);
    },
    2 * minutes,
  );

  it(
    'shows of a host first what it lacks, and what is free in its pools',
    async () => {
      const [host] = (await at.cloud.api.ok('GET', '/hosts')).items;
      // As the host would say it of a machine that lacks it.
      const path = new RegExp(`/api/v1/hosts/${host?.id ?? ''}$`);
      await at.page.route(path, async (route) => {
        const answer = await route.fetch();
        const said = (await answer.json()) as { conditions: { type: string; status: string; message: string }[] };
        const conditions = said.conditions.map((c) =>
          c.type === 'Cgroup' ? { ...c, status: 'false', message: 'no memory controller' } : { ...c, status: 'true' },
        );
        await route.fulfill({ response: answer, json: { ...said, conditions } });
      });
      await at.page.goto(at.address(`hosts/${host?.id ?? ''}`));
      const first = main()
        .getByRole('listitem')
        .filter({ hasText: /: (yes|no)/ })
        .first();
      await first.getByText('Cgroup: no').waitFor();
      await first.getByText('no memory controller').waitFor();
      expect(await first.locator('.text-bad').count()).toBe(1);
      await at.page.unroute(path);
      const pools = at.page.getByRole('table', { name: 'Storage pools' });
      expect(await pools.getByRole('columnheader').allInnerTexts()).toEqual(['Name', 'Driver', 'Size', 'Free']);
      await at.page.screenshot({ path: join(pictures, 'host.png') });
    },
    minutes,
  );
};
