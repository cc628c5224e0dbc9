import { lookAtRows, type WatchOutput } from './watch-rows';

interface Row {
  id: string;
  name: string;
  state: string;
}
const row = (id: string, state: string): Row => ({ id, name: `web-${id}`, state });
const looks = (output: Omit<WatchOutput<Row>, 'write'>, ...lists: Row[][]): string[] => {
  const seen = new Map<string, { sign: string; row: Row }>();
  return lists.map((rows, i) => {
    let text = '';
    lookAtRows(rows, seen, i === 0, { ...output, write: (part) => (text += part) });
    return text;
  });
};
const text = (rows: Row[], headers: boolean): string =>
  `${headers ? 'NAME STATE\n' : ''}${rows.map((r) => `${r.name} ${r.state}\n`).join('')}`;
const story: Row[][] = [
  [row('1', 'running'), row('2', 'building')],
  [row('1', 'running'), row('2', 'building')],
  [row('2', 'running')],
  [],
];

describe('lookAtRows', () => {
  it('prints the list once and then each change, where lines are kept', () => {
    expect(looks({ text, live: false }, ...story)).toEqual([
      'NAME STATE\nweb-1 running\nweb-2 building\n',
      '',
      'web-2 running\nweb-1: gone\n',
      'web-2: gone\n',
    ]);
  });

  it('draws a terminal anew when something changed', () => {
    const clear = '\u001b[H\u001b[2J';
    expect(looks({ text, live: true }, ...story)).toEqual([
      `${clear}NAME STATE\nweb-1 running\nweb-2 building\n`,
      '',
      `${clear}NAME STATE\nweb-2 running\n`,
      `${clear}NAME STATE\n`,
    ]);
  });

  it('gives programs a line of JSON for each change', () => {
    const lines = looks({ text: undefined, live: false }, ...story).map((part) =>
      part
        .trim()
        .split('\n')
        .filter(Boolean)
        .map((line) => (JSON.parse(line) as { change: string }).change),
    );
    expect(lines).toEqual([['added', 'added'], [], ['changed', 'removed'], ['removed']]);
  });
});
