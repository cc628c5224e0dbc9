import { ids, instance, task } from './samples';
import { VcctlLab } from './vcctl-lab';

jest.setTimeout(60_000);

describe('network cards of an instance, by vcctl', () => {
  let lab: VcctlLab;
  const second = { ...instance.ports[0], id: '0198b0f4-8888-7000-8000-00000000000b', address: '10.20.0.7' };
  const answer = { status: 202, body: { taskId: ids.task, instance } };
  const path = `/instances/${ids.instance}`;
  /** What was asked, without the looks of `--wait` at the task. */
  const asked = (): string[] =>
    lab.plane.requests
      .filter(({ path: one }) => !one.startsWith('/tasks/') && !one.startsWith('/events'))
      .map(({ method, path: one, body }) => [method, one, body].filter((word) => word !== '').join(' '));

  beforeEach(async () => {
    lab = await VcctlLab.start();
    lab.plane.routes.set(`GET ${path}`, () => ({ body: { ...instance, ports: [instance.ports[0], second] } }));
    lab.plane.routes.set('GET /instances', () => ({ body: { items: [instance], next: null } }));
    lab.plane.routes.set(`POST ${path}/ports`, () => answer);
    for (const { id } of [{ id: ids.port }, second]) lab.plane.routes.set(`DELETE ${path}/ports/${id}`, () => answer);
    lab.plane.routes.set(`GET /tasks/${ids.task}`, () => ({ body: task('succeeded') }));
  });
  afterEach(() => lab.stop());

  it('attach-port asks for a network, with the address that was named and no other', async () => {
    expect(await lab.run('instance', 'attach-port', ids.instance, '--network', 'n2')).toEqual({
      code: 0,
      out: '',
      err: `instance ${ids.instance}: attach-port accepted (task ${ids.task})\n`,
    });
    await lab.run('instance', 'attach-port', ids.instance, '--network', 'n2', '--address', '10.20.0.7');
    expect(asked().filter((line) => line.startsWith('POST'))).toEqual([
      `POST ${path}/ports {"network":"n2"}`,
      `POST ${path}/ports {"network":"n2","address":"10.20.0.7"}`,
    ]);
    expect(lab.plane.requests.find(({ method }) => method === 'POST')?.query).toEqual({ project: 'default' });
  });

  it('attach-port --wait shows the instance as it is then', async () => {
    const { code, out } = await lab.run('instance', 'attach-port', ids.instance, '--network', 'n2', '--wait');
    expect(code).toBe(0);
    expect(out).toContain('10.20.0.7');
  });

  it('attach-port without a network asks for nothing', async () => {
    expect(await lab.run('instance', 'attach-port', ids.instance)).toMatchObject({
      code: 2,
      err: expect.stringContaining('--network') as unknown,
    });
    expect(lab.plane.requests).toEqual([]);
  });

  it('attach-port tells why it was refused', async () => {
    lab.plane.routes.set(`POST ${path}/ports`, () => ({
      status: 409,
      body: {
        type: 'urn:vc-stack:problem:too_many_ports',
        title: 'Conflict',
        status: 409,
        code: 'too_many_ports',
        detail: 'It has eight.',
      },
    }));
    expect(await lab.run('instance', 'attach-port', ids.instance, '--network', 'n2')).toMatchObject({
      code: 5,
      err: expect.stringContaining('It has eight.') as unknown,
    });
  });

  it('detach-port takes an address or an id', async () => {
    expect((await lab.run('instance', 'detach-port', ids.instance, '10.20.0.7')).code).toBe(0);
    expect((await lab.run('instance', 'detach-port', ids.instance, ids.port)).code).toBe(0);
    expect(asked().filter((line) => line.startsWith('DELETE'))).toEqual([
      `DELETE ${path}/ports/${second.id}`,
      `DELETE ${path}/ports/${ids.port}`,
    ]);
  });

  it('detach-port takes several only one after the other', async () => {
    const both = ['instance', 'detach-port', ids.instance, '10.20.0.7', '10.10.0.2'];
    expect(await lab.run(...both)).toMatchObject({ code: 2, err: expect.stringContaining('--wait') as unknown });
    expect(lab.plane.requests).toEqual([]);
    const { code, err } = await lab.run(...both, '--wait');
    expect(code).toBe(0);
    expect(err).toContain(`port 10.20.0.7 detached from ${ids.instance}`);
    const order = lab.plane.requests
      .filter(({ method, path: one }) => method === 'DELETE' || one === `/tasks/${ids.task}`)
      .map(({ method, path: one }) => (method === 'DELETE' ? one.slice(-4) : 'task'))
      .filter((word, n, all) => word !== all[n - 1]);
    expect(order).toEqual([second.id.slice(-4), 'task', ids.port.slice(-4), 'task']);
  });

  it('detach-port asks for nothing when there is no such port, and goes on with the others', async () => {
    const both = ['instance', 'detach-port', ids.instance, '10.9.9.9', '10.20.0.7', '--wait'];
    expect(await lab.run(...both)).toMatchObject({ code: 2, err: expect.stringContaining('10.9.9.9') as unknown });
    expect(asked().filter((line) => line.startsWith('DELETE'))).toEqual([`DELETE ${path}/ports/${second.id}`]);
  });
});
