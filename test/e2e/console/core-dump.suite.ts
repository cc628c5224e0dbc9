import { eventually } from '../../support/eventually';
import type { ConsoleSuite } from './console-suite';

const minutes = 60_000;

/** The memory of a guest as a file. */
export const coreDumpCases = (at: ConsoleSuite): void => {
  it(
    'dumps the memory of an instance, says by which command it is downloaded, and deletes the dump',
    async () => {
      const { id } = await at.cloud.instance('from-the-browser');
      await at.page.goto(at.address(`instances/${id}`));
      await at.page.getByRole('button', { name: 'Dump its memory…' }).click();
      const dialog = at.page.getByRole('dialog', { name: 'Dump the memory of from-the-browser' });
      await dialog.getByLabel('Format').selectOption('kdump-zlib');
      await dialog.getByText('--format').waitFor();
      await dialog.getByRole('button', { name: 'Dump its memory' }).click();
      const table = at.page.getByRole('table', { name: 'Core dumps' });
      await table.getByRole('row', { name: /kdump-zlib/ }).waitFor();
      const { items } = await at.cloud.api.ok('GET', `/instances/${id}/core-dumps`);
      expect(items).toMatchObject([{ format: 'kdump-zlib' }]);
      await at.page.getByText('download-core-dump').waitFor();
      await at.page.goto(at.address(`instances/${id}`));
      await table.getByRole('button', { name: `Delete core dump ${items[0]?.id ?? ''}` }).click();
      const removal = at.page.getByRole('dialog', { name: 'Delete core dump' });
      await removal.getByRole('textbox').fill('from-the-browser');
      await removal.getByRole('button', { name: 'Delete', exact: true }).click();
      await removal.waitFor({ state: 'detached' });
      await eventually(
        'the dump to be gone',
        async () => (await at.cloud.api.ok('GET', `/instances/${id}/core-dumps`)).items.length === 0,
      );
      await at.page.goto(at.address(`instances/${id}`));
      await at.page.getByText('None.', { exact: true }).waitFor();
    },
    2 * minutes,
  );
};
