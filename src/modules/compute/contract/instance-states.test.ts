import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { instanceStates, instanceVerbs, refusalOf, type InstanceState, type InstanceVerb } from './instance-states';

const readme = readFileSync(join(__dirname, '../README.md'), 'utf8');
const ofRescue = { image: 'rescue' };
/** One in that state, in rescue where the state or the case says so. */
const refusedIn = (verb: InstanceVerb, state: InstanceState, rescue = state === 'rescued'): boolean =>
  refusalOf(verb, { state, rescue: rescue ? ofRescue : null }) !== undefined;
const verbs = Object.keys(instanceVerbs) as InstanceVerb[];

describe('the state machine of instances', () => {
  it('is the table of the README', () => {
    const rows = verbs.map((verb) => {
      const refused = instanceStates.filter((state) =>
        refusedIn(verb, state, state === 'rescued' || verb === 'unrescue'),
      );
      const { during } = instanceVerbs[verb];
      return `| ${verb} | ${during === null ? 'as before' : `\`${during}\``} | ${refused.map((state) => `\`${state}\``).join(', ')} |`;
    });
    expect(readme).toContain(rows.join('\n'));
  });

  it('lets go of every state that an instance may rest in', () => {
    const ways = (state: InstanceState, rescue?: boolean): InstanceVerb[] =>
      verbs.filter((verb) => !refusedIn(verb, state, rescue));
    expect(ways('running')).toEqual([
      'stop',
      'force-stop',
      'reboot',
      'pause',
      'suspend',
      'attach-port',
      'detach-port',
      'attach-volume',
      'detach-volume',
      'nmi',
      'balloon',
      'core-dump',
      'resize',
      'tell-metadata',
    ]);
    expect(ways('paused')).toEqual(['force-stop', 'resume', 'core-dump', 'tell-metadata']);
    expect(ways('suspended')).toEqual(['force-stop', 'resume', 'tell-metadata']);
    const rearranging = ['attach-port', 'detach-port', 'attach-volume', 'detach-volume'];
    expect(ways('stopped')).toEqual(['start', ...rearranging, 'resize', 'rebuild', 'rescue', 'tell-metadata']);
    const failed = ['start', 'stop', 'force-stop', 'reboot', ...rearranging];
    expect(ways('error')).toEqual([...failed, 'rescue', 'tell-metadata']);
    expect(ways('rescued')).toEqual([
      'stop',
      'force-stop',
      'reboot',
      ...rearranging,
      'nmi',
      'core-dump',
      'unrescue',
      'tell-metadata',
    ]);
    expect(ways('stopped', true)).toEqual(['start', ...rearranging, 'unrescue', 'tell-metadata']);
    expect(ways('error', true)).toEqual([...failed, 'unrescue', 'tell-metadata']);
  });
});
