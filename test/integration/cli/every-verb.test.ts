import type { Command } from 'commander';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commandsOf } from '../../../src/core/app/declarations';
import { buildProgram } from '../../../src/core/cli/program';
import { TerminalContext } from '../../../src/core/cli/terminal-context';
import { allModules } from '../../../src/modules/all-modules';
import type { SeenRequest } from './fake-control-plane';
import { ids, instance, leftovers, task } from './samples';
import { VcctlLab } from './vcctl-lab';

jest.setTimeout(60_000);

const leaves = (command: Command, path: string[] = []): { path: string[]; command: Command }[] =>
  command.commands.length === 0
    ? [{ path, command }]
    : command.commands.flatMap((child) => leaves(child, [...path, child.name()]));
let all: { path: string[]; command: Command }[] = [];
/** What removes something that no other verb brings back, or leaves something behind for good. */
let destructive = all;

beforeAll(async () => {
  all = leaves(buildProgram(new TerminalContext({}), await commandsOf(allModules)));
  destructive = all.filter(({ command }) =>
    ['delete', 'remove', 'rebuild', 'delete-core-dump', 'skip-step', 'abandon', 'remove-leftovers'].includes(
      command.name(),
    ),
  );
});

describe('every verb', () => {
  let lab: VcctlLab;
  beforeEach(async () => {
    lab = await VcctlLab.start();
    // One object that has whatever any verb reads of it.
    const thing = {
      ...instance,
      userName: 'anna',
      token: 't',
      expiresAt: null,
      command: 'x',
      scopes: null,
      bytes: 3,
      rules: [],
      lastUsedAt: null,
      subnets: [],
      router: null,
      dns: [],
      addresses: { total: 1, used: 0 },
    };
    lab.plane.fallback = ({ method, path }: SeenRequest) => {
      if (path.startsWith('/tasks/')) return { body: task('succeeded') };
      if (method === 'GET' && path.endsWith('/content')) return { body: 'x' };
      if (method === 'GET' && path.endsWith('/leftovers')) return { body: leftovers };
      if (method === 'GET' && path.split('/').length % 2 === 0)
        return { body: { items: [{ ...thing, name: 'x' }], next: null } };
      // What a task takes away is answered with it.
      if (method === 'DELETE' && /\/(ports|volumes|core-dumps)\//.test(path) && !path.startsWith('/volumes/'))
        return { status: 202, body: { taskId: ids.task } };
      if (method === 'DELETE' && path.startsWith('/routers/') && path.includes('/subnets/')) return { body: thing };
      if (method === 'DELETE') return { status: 204 };
      return {
        body: {
          ...thing,
          instance: thing,
          volume: thing,
          taskId: ids.task,
          instances: [thing],
          text: 'out',
          cursor: 'c',
          truncated: false,
        },
      };
    };
    await writeFile(join(lab.dir, 'file'), 'ssh-ed25519 AAAA me\n');
  });
  afterEach(() => lab.stop());

  /** Words for its arguments and for the options that it insists on. */
  const wordsFor = (command: Command): string[] => {
    const values: Record<string, string> = {
      subnet: '10.0.0.0/24',
      vcpus: '1',
      memory: '1GiB',
      role: 'viewer',
      method: 'GET',
      path: '/instances',
      file: join(lab.dir, 'file'),
      task: ids.task,
      // Of an instance one that it has.
      port: command.name() === 'detach-port' ? (instance.ports[0]?.id ?? '') : ids.instance,
      'core-dump': ids.instance,
      'port-number': '22',
      'host-token': ids.instance,
      session: ids.instance,
      leftover: 'volume:default/x',
      size: '1GiB',
    };
    const valueOf = (name: string): string => values[name] ?? 'x';
    return [
      ...command.registeredArguments.map((a) => valueOf(a.name())),
      ...command.options.filter((o) => o.mandatory).flatMap((o) => [o.long ?? '', valueOf(o.attributeName())]),
    ];
  };

  /** Something that an edit changes; not everything has a description. */
  const editOf = (command: Command): string[] =>
    [
      ['--description', 'new'],
      ['--protected', 'yes'],
      ['--dns', '192.0.2.53'],
    ].find(([option]) => command.options.some((o) => o.long === option)) ?? [];

  it('that destroys asks, and without a terminal wants --yes and does nothing', async () => {
    expect(destructive.map(({ path }) => path.join(' '))).toEqual(
      expect.arrayContaining([
        'instance delete',
        'instance delete-core-dump',
        'flavor delete',
        'image delete',
        'network delete',
        'ssh-key delete',
        'host delete',
        'host remove-leftovers',
        'host token delete',
        'project delete',
        'project member remove',
        'user delete',
        'api-token delete',
        'task skip-step',
        'task abandon',
        'profile remove',
      ]),
    );
    for (const { path, command } of destructive) {
      const refused = await lab.run(...path, ...wordsFor(command));
      expect([path.join(' '), refused]).toEqual([
        path.join(' '),
        { code: 2, out: '', err: expect.stringMatching(/without a terminal: add --yes \(usage\)\n$/) },
      ]);
    }
    expect(lab.plane.requests).toEqual([]);
    for (const { path, command } of destructive.filter((d) => d.path[0] !== 'profile')) {
      expect([path.join(' '), (await lab.run(...path, ...wordsFor(command), '--yes')).code]).toEqual([
        path.join(' '),
        0,
      ]);
    }
    expect(lab.plane.requests.filter((r) => r.method === 'DELETE').length).toBe(destructive.length - 5);
  });

  /** Shells of their own, scripts, and what needs a person at a terminal. */
  const noResult = [
    'login',
    'logout',
    'instance console',
    'instance vsock',
    'instance ssh',
    'completion',
    '__complete',
    'help',
    'user create',
    'user passwd',
    'image import',
  ];

  it('honours -o: a result for programs on standard output, nothing beside it', async () => {
    for (const { path, command } of all.filter((leaf) => !noResult.includes(leaf.path.join(' ')))) {
      const words = [
        ...path,
        ...wordsFor(command),
        ...(command.options.some((o) => o.long === '--yes') ? ['--yes'] : []),
        ...(command.options.some((o) => o.long === '--maintenance') ? ['--maintenance'] : []),
      ];
      if (path.join(' ') === 'profile use' || path.join(' ') === 'profile remove') words[2] = 'local';
      if (path.at(-1) === 'edit') words.push(...editOf(command));
      // Without one the picture itself is the result.
      if (path.at(-1) === 'screenshot') words.push('--file', join(lab.dir, 'picture.png'));
      // It writes over nothing.
      if (path.at(-1) === 'download-core-dump') words.push('--file', join(lab.dir, 'new.core'));
      const waits = command.options.some((o) => o.long === '--wait') ? [[], ['--wait']] : [[]];
      for (const wait of waits) {
        if (path[0] === 'profile' && path[1] === 'remove') continue;
        const { code, out, err } = await lab.run(...words, ...wait, '-o', 'json');
        expect([words.join(' '), code, err]).toEqual([words.join(' '), 0, '']);
        expect(() => [words.join(' '), JSON.parse(out)]).not.toThrow();
      }
    }
  });

  it('tells its failure to programs as the problem document', async () => {
    const problem = {
      type: 'urn:vc-stack:problem:refused',
      title: 'Conflict',
      status: 409,
      code: 'refused',
      detail: 'Not now.',
      requestId: 'r-9',
      extra: { more: 1 },
    };
    lab.plane.fallback = () => ({ status: 409, body: problem });
    for (const { path, command } of all.filter(
      (leaf) =>
        !['profile', 'completion', '__complete', 'help', 'version', 'login', 'logout'].includes(leaf.path[0] ?? ''),
    )) {
      const name = path.join(' ');
      if (['user create', 'user passwd', 'whoami'].includes(name)) continue;
      const words = [
        ...path,
        ...wordsFor(command),
        ...(command.options.some((o) => o.long === '--yes') ? ['--yes'] : []),
        ...(command.options.some((o) => o.long === '--maintenance') ? ['--maintenance'] : []),
      ];
      if (path.at(-1) === 'edit') words.push(...editOf(command));
      // Without one the picture itself is the result.
      if (path.at(-1) === 'screenshot') words.push('--file', join(lab.dir, 'picture.png'));
      if (name === 'image import') words.push('--url', 'https://example.org/x');
      const { code, out, err } = await lab.run(...words, '-o', 'json');
      expect([name, code, out]).toEqual([name, 5, '']);
      expect(JSON.parse(err)).toMatchObject(problem);
    }
  });
});
