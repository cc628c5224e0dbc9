import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { instanceStates, instanceVerbs, refusalOf, type InstanceState, type InstanceVerb } from './instance-states';

const readme = readFileSync(join(__dirname, '../README.md'), 'utf8');
const verbs = Object.keys(instanceVerbs) as InstanceVerb[];

describe('the state machine of instances', () => {
  it('is the table of the README', () => {
    const rows = verbs.map((verb) => {
      const refused = instanceStates.filter((state) => refusalOf(verb, state) !== undefined);
      const { during } = instanceVerbs[verb];
      return `| ${verb} | ${during === null ? 'as before' : `\`${during}\``} | ${refused.map((state) => `\`${state}\``).join(', ')} |`;
    });
    expect(readme).toContain(rows.join('\n'));
  });

  it('lets go of every state that an instance may rest in', () => {
    const ways = (state: InstanceState): InstanceVerb[] => verbs.filter((verb) => refusalOf(verb, state) === undefined);
    expect(ways('running')).toEqual([
      'stop',
      'force-stop',
      'reboot',
      'pause',
      'suspend',
      'attach-port',
      'detach-port',
      'nmi',
      'tell-metadata',
    ]);
    expect(ways('paused')).toEqual(['force-stop', 'resume', 'tell-metadata']);
    expect(ways('suspended')).toEqual(['force-stop', 'resume', 'tell-metadata']);
    expect(ways('stopped')).toEqual(['start', 'attach-port', 'detach-port', 'resize', 'rebuild', 'tell-metadata']);
    expect(ways('error')).toEqual([
      'start',
      'stop',
      'force-stop',
      'reboot',
      'attach-port',
      'detach-port',
      'tell-metadata',
    ]);
  });
});
