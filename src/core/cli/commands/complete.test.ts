import { Command, Option } from 'commander';
import { complete, type NameSource } from './complete';
import type { Noun } from '../noun';

const noun = (name: string): [string, Noun] => [name, { name, plural: `${name}s`, path: `/${name}s`, inProject: true }];
const source: NameSource = {
  nouns: new Map([noun('instance'), noun('flavor'), noun('network'), noun('project')]),
  names: async ({ name }) => [`${name}-a`, `${name}-b`, `my ${name}`],
  profiles: async () => ['local', 'office'],
};

const program = new Command('vcctl')
  .option('--project <name>')
  .option('--profile <name>')
  .option('-o, --output <format>');
const instance = program.command('instance').alias('instances');
instance
  .command('create')
  .argument('<name>')
  .option('--flavor <flavor>')
  .option('--network <network[,address=IPv4]>')
  .option('--key <file|name>')
  .option('-w, --wait');
instance.command('delete').alias('rm').argument('<instance...>').option('-y, --yes');
instance.command('list').addOption(new Option('--state <state>').choices(['running', 'stopped']));
program.command('help').argument('[command...]');
program.command('__complete', { hidden: true });

const after = (...words: string[]): Promise<string[]> => complete(program, words, source);

describe('completion', () => {
  it.each([
    [[''], ['instance', 'help']],
    [['inst'], ['instance']],
    [
      ['instance', ''],
      ['create', 'delete', 'list'],
    ],
    [['instances', 'd'], ['delete']],
    [
      ['instance', 'delete', ''],
      ['instance-a', 'instance-b', 'my instance'],
    ],
    [['instance', 'rm', '-y', 'instance-a', 'my'], ['my instance']],
    [
      ['instance', 'create', 'x', '--flavor', ''],
      ['flavor-a', 'flavor-b', 'my flavor'],
    ],
    [
      ['instance', 'create', 'x', '--flavor=flavor-'],
      ['--flavor=flavor-a', '--flavor=flavor-b'],
    ],
    [['instance', 'create', '--network', 'network-b'], ['network-b']],
    [['instance', 'create', '--key', './'], [':files']],
    [['instance', 'create', ''], []],
    [['instance', 'list', '--state', 'r'], ['running']],
    [['instance', 'list', '--st'], ['--state']],
    [['instance', 'create', '--w'], ['--wait']],
    [
      ['--project', ''],
      ['project-a', 'project-b', 'my project'],
    ],
    [['--profile', 'o'], ['office']],
    [
      ['instance', 'list', '-o', 'js'],
      ['json', 'jsonpath='],
    ],
    [['nothing', ''], []],
  ])('after %j: %j', async (words, found) => expect(await after(...words)).toEqual(found));

  it('knows the global options everywhere', async () => {
    expect(await after('instance', 'list', '--p')).toEqual(['--project', '--profile']);
  });
});
