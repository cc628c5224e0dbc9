import { ids, leftovers, task } from './samples';
import { VcctlLab } from './vcctl-lab';

jest.setTimeout(60_000);

describe('leftovers of a host, by vcctl', () => {
  let lab: VcctlLab;
  const removal = `POST /hosts/${ids.host}/actions/remove-leftovers`;
  const words = ['host', 'remove-leftovers', ids.host];

  beforeEach(async () => {
    lab = await VcctlLab.start();
    lab.plane.routes.set(`GET /hosts/${ids.host}/leftovers`, () => ({ body: leftovers }));
    lab.plane.routes.set(removal, () => ({ status: 202, body: { taskId: ids.task } }));
    lab.plane.routes.set(`GET /tasks/${ids.task}`, () => ({ body: task('succeeded') }));
  });
  afterEach(() => lab.stop());
  const bodies = (): unknown[] =>
    lab.plane.requests.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body) as unknown);

  it('are listed by the words that remove them', async () => {
    const { code, out } = await lab.run('host', 'leftovers', ids.host);
    expect(code).toBe(0);
    expect(out).toContain('volume:default/x');
    expect(out).toContain(`instance-folder:${ids.instance}`);
    expect(out).toContain('kept memory, seed');
    expect(out).toContain('8 KiB');
  });

  it('are removed as they were listed, and only those that were named', async () => {
    expect(await lab.run(...words, 'volume:default/x', '--yes', '--wait')).toMatchObject({ code: 0 });
    expect(bodies()).toEqual([{ leftovers: [{ kind: 'volume', name: 'default/x', mark: '1:2:3' }] }]);
  });

  it('are not removed without a yes, nor when one is not listed', async () => {
    expect((await lab.run(...words, 'volume:default/x')).code).toBe(2);
    expect(lab.plane.requests).toEqual([]);
    expect(await lab.run(...words, 'volume:default/x', 'volume:default/y', '--yes')).toMatchObject({
      code: 2,
      err: expect.stringContaining('volume:default/y') as unknown,
    });
    expect(bodies()).toEqual([]);
  });
});
