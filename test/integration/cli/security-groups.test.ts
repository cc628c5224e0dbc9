import { ids } from './samples';
import { VcctlLab } from './vcctl-lab';

jest.setTimeout(60_000);

describe('security groups, by vcctl', () => {
  let lab: VcctlLab;
  const group = {
    id: ids.network,
    projectId: ids.project,
    name: 'web',
    description: '',
    isDefault: false,
    status: 'pending',
    hosts: { concerned: 3, converged: 2 },
    ruleCount: 1,
    portCount: 4,
    createdAt: '2026-01-01T00:00:00.000Z',
  };
  const rule = {
    id: ids.port,
    direction: 'ingress',
    ethertype: 'ipv4',
    protocol: 'tcp',
    portMin: 8000,
    portMax: 8100,
    icmpType: null,
    icmpCode: null,
    remoteCidr: null,
    remoteGroup: { id: ids.network, name: 'lb' },
    description: '',
    createdAt: '2026-01-01T00:00:00.000Z',
  };
  const asked = (): string[] =>
    lab.plane.requests
      .filter(({ method }) => method !== 'GET')
      .map(({ method, path, body }) => `${method} ${path} ${body}`.trim());

  beforeEach(async () => {
    lab = await VcctlLab.start();
    lab.plane.routes.set('GET /security-groups', () => ({ body: { items: [group], next: null } }));
    lab.plane.routes.set('GET /security-groups/web', () => ({ body: { ...group, rules: [rule] } }));
    lab.plane.routes.set('POST /security-groups/web/rules', () => ({ status: 201, body: rule }));
    lab.plane.routes.set(`DELETE /security-group-rules/${ids.port}`, () => ({ status: 204 }));
  });
  afterEach(() => lab.stop());

  it('are listed with what holds of them, and shown with their rules', async () => {
    expect((await lab.run('security-group', 'list')).out).toMatch(/^NAME +STATUS +RULES +PORTS.*\nweb +pending +1 +4/);
    const { out } = await lab.run('security-group', 'show', 'web');
    expect(out).toContain('2 of 3 have reported its newest state');
    expect(out).toMatch(/ingress +ipv4 +tcp +8000-8100 +group lb/);
  });

  it('get rules and lose them, which asks first', async () => {
    await lab.run('security-group', 'rule', 'add', 'web', '--protocol', 'tcp', '--port', '443', '--remote-group', 'lb');
    expect((await lab.run('security-group', 'rule', 'remove', ids.port)).code).toBe(2);
    expect((await lab.run('security-group', 'rule', 'remove', ids.port, '--yes')).code).toBe(0);
    expect(asked()).toEqual([
      'POST /security-groups/web/rules {"direction":"ingress","ethertype":"ipv4","protocol":"tcp","portMin":443,"portMax":443,"remoteGroup":"lb"}',
      `DELETE /security-group-rules/${ids.port}`,
    ]);
  });
});
