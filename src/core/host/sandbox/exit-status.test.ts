import { parseExitStatus } from './exit-status';

describe('how a program ended, as bubblewrap writes it', () => {
  const first = '{ "child-pid": 29903, "mnt-namespace": 4026532182, "pid-namespace": 4026532183 }\n';
  it.each([
    ['{ "exit-code": 3 }\n', { code: 3, signal: null }],
    ['{ "exit-code": 0 }\n', { code: 0, signal: null }],
    ['{ "exit-code": 137 }\n', { code: null, signal: 'SIGKILL' }],
    ['{ "exit-code": 159 }\n', { code: null, signal: 'SIGSYS' }],
    ['{ "exit-code": 255 }\n', { code: 255, signal: null }],
    ['', null],
    ['{ "exit-co', null],
  ])('reads %j', (second, expected) => {
    expect(parseExitStatus(first + second)).toEqual(expected);
  });
});
