import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { ConfigError } from './config-error';
import { loadConfig, type ConfigSources } from './config-loader';
import { coreConfigSchema } from './core-config';
import { effectiveConfig } from './effective-config';

const modules = {
  network: z.strictObject({
    uplink: z.string().default(''),
    ranges: z.array(z.string()).default([]),
    apiKey: z.string().meta({ secret: true }).default(''),
  }),
  loose: z.object({ on: z.boolean().default(false) }),
};

describe('loadConfig', () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'vc-config-'));
  });
  afterAll(() => rm(dir, { recursive: true }));

  let count = 0;
  const file = async (content: string): Promise<string> => {
    const path = join(dir, `f${count++}`);
    await writeFile(path, content);
    return path;
  };
  const problems = async (sources: ConfigSources): Promise<readonly string[]> => {
    const error = await loadConfig({ modules, ...sources }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).problems;
  };

  it('gives the defaults without any source', async () => {
    const config = await loadConfig({ modules });
    expect(config.core).toEqual(coreConfigSchema.parse({}));
    expect(config.section('network')).toEqual({ uplink: '', ranges: [], apiKey: '' });
    expect(() => config.section('absent')).toThrow('absent');
  });

  it.each(['management.yaml', 'compute.yaml'])('knows every key of the example %s', async (name) => {
    const found = await loadConfig({ files: [resolve(__dirname, '../../../config', name)] }).catch((e: unknown) => e);
    const other = found instanceof ConfigError ? found.problems.filter((p) => !p.includes('cannot read the file')) : [];
    expect(other).toEqual([]);
  });

  it('merges files in order, then the environment', async () => {
    const config = await loadConfig({
      modules,
      files: [
        await file('management: {port: 1000, nodePort: 1001}\nlog:\n'),
        await file('management:\n  port: 2000\n'),
      ],
      env: {
        VC_STACK_MANAGEMENT__NODE_PORT: '3000',
        VC_STACK_MODULES__NETWORK__UPLINK: 'eth7',
        VC_STACK_MODULES__NETWORK__RANGES: '[a, b]',
        VC_STACK_MODULES__LOOSE__ON: 'true',
        VC_STACK_STATE_DIR: '/x',
        PATH: '/bin',
      },
    });
    expect(config.core.management).toMatchObject({ port: 2000, nodePort: 3000 });
    expect(config.core.stateDir).toBe('/x');
    expect(config.section('network')).toMatchObject({ uplink: 'eth7', ranges: ['a', 'b'] });
    expect(config.section('loose')).toEqual({ on: true });
    expect(Object.isFrozen(config.core.management)).toBe(true);
  });

  it('reads secrets from files', async () => {
    const secret = await file('s3cret\n');
    const url = await file('postgres://u:p@h/d\n');
    const config = await loadConfig({
      files: [await file(`compute: {tokenFile: ${secret}}`)],
      env: { VC_STACK_DATABASE__URL_FILE: url },
    });
    expect(config.core.compute.token).toBe('s3cret');
    expect(config.core.database.url).toBe('postgres://u:p@h/d');
    expect(await problems({ env: { VC_STACK_DATABASE__URL_FILE: join(dir, 'none') } })).toEqual([
      expect.stringContaining('cannot read the file'),
    ]);
  });

  it('refuses unknown keys with path and suggestion, all at once', async () => {
    const bad = await file(
      'management: {prot: 1}\nmodules:\n  netwrk: {}\n  loose: {onn: true}\ncompute: {listenFile: x}\n__proto__: {a: 1}\n',
    );
    const found = await problems({ files: [bad], env: { VC_STACK_MANAGMENT__PORT: '1', VC_STACK_LOG__LEVEL__X: 'a' } });
    expect(found).toEqual(
      expect.arrayContaining([
        expect.stringContaining('management.prot: unknown key; did you mean "port"?'),
        expect.stringContaining('modules.netwrk: unknown key; did you mean "network"?'),
        expect.stringContaining('modules.loose.onn: unknown key; did you mean "on"?'),
        expect.stringContaining('compute.listenFile: unknown key'),
        expect.stringContaining('__proto__: unknown key'),
        'VC_STACK_MANAGMENT__PORT: unknown variable; did you mean VC_STACK_MANAGEMENT__PORT?',
        expect.stringContaining('VC_STACK_LOG__LEVEL__X: unknown variable'),
      ]),
    );
  });

  it.each([
    ['management: {port: "x"}', 'management.port'],
    ['management: {port: 70000}', 'management.port'],
    ['management: 5', 'management'],
    ['- a', 'mapping'],
    ['a: [', 'f'],
  ])('refuses %s', async (content, named) => {
    expect((await problems({ files: [await file(content)] })).join()).toContain(named);
  });

  it('names the variable key that has the wrong type', async () => {
    expect((await problems({ env: { VC_STACK_MANAGEMENT__PORT: 'abc' } })).join()).toContain('management.port');
  });

  it('prints itself with secrets masked', async () => {
    const config = await loadConfig({
      modules,
      env: {
        VC_STACK_DATABASE__URL: 'postgres://u:pa@ss@h:1/d?password=q',
        VC_STACK_COMPUTE__TOKEN: 'tok',
        VC_STACK_MODULES__NETWORK__API_KEY: 'key',
      },
    });
    const text = effectiveConfig(config, modules);
    const printed = parse(text) as {
      database: { url: string };
      compute: { token: string };
      redis: { url: string };
      modules: { network: object };
    };
    expect(printed.database.url).toBe('postgres://u:***@h:1/d?password=***');
    expect(printed.compute.token).toBe('***');
    expect(printed.redis.url).toBe('');
    expect(printed.modules.network).toEqual({ uplink: '', ranges: [], apiKey: '***' });
    expect(text).not.toContain('pa@ss');
  });
});
