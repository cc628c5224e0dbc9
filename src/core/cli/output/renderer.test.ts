import type { CliColumn } from './cli-column';
import { findByPath } from './json-path';
import { nameOf, renderData, renderTable } from './renderer';
import { parseOutputFormat } from './output-format';

interface Row {
  id: string;
  name: string;
  state: string;
}

const rows: Row[] = [
  { id: '1', name: 'web', state: 'running' },
  { id: '2', name: 'database', state: '' },
];
const columns: CliColumn<Row>[] = [
  { header: 'name', value: (r) => r.name },
  { header: 'state', value: (r) => r.state, tone: (r) => (r.state === 'running' ? 'good' : undefined) },
  { header: 'id', value: (r) => r.id, wide: true, whole: true },
];
const plainly = { colour: false };

describe('renderTable', () => {
  it('aligns columns without borders', () => {
    expect(renderTable(rows, columns, { kind: 'table' }, {}, plainly).text).toBe(
      'NAME       STATE\nweb        running\ndatabase   -\n',
    );
    expect(renderTable(rows, columns, { kind: 'wide' }, {}, plainly).text).toBe(
      'NAME       STATE     ID\nweb        running   1\ndatabase   -         2\n',
    );
    expect(renderTable([], columns, { kind: 'table' }, {}, plainly).text).toBe('');
  });

  it('shows the columns that are asked for, without headers if so wished', () => {
    expect(renderTable(rows, columns, { kind: 'table' }, { columns: 'id,name', headers: false }, plainly).text).toBe(
      '1   web\n2   database\n',
    );
  });

  it('lets no cell move the cursor', () => {
    expect(
      renderTable([{ id: '1', name: 'a\u001b[2Jb\nc', state: 'x' }], columns, { kind: 'table' }, {}, plainly).text,
    ).not.toMatch(/\u001b|b\nc/);
  });

  it('colours states, and keeps the columns aligned', () => {
    expect(renderTable(rows, columns, { kind: 'wide' }, {}, { colour: true }).text).toBe(
      'NAME       STATE     ID\nweb        \u001b[32mrunning\u001b[39m   1\ndatabase   -         2\n',
    );
  });

  it('fits the terminal: the widest column gives first, an id stays whole', () => {
    const long = [
      { id: '0198b0f4-1111-7000-8000-000000000001', name: 'a name that goes on and on and on', state: 'running' },
    ];
    const text = renderTable(long, columns, { kind: 'wide' }, {}, { colour: false, width: 64 }).text;
    expect(text).toBe(
      'NAME               STATE    ID\na name that goes…  running  0198b0f4-1111-7000-8000-000000000001\n',
    );
    for (const width of [40, 60, 80, 200])
      for (const line of renderTable(long, columns, { kind: 'table' }, {}, { colour: false, width }).text.split('\n'))
        expect(line.length).toBeLessThanOrEqual(width);
  });

  it('leaves out what no cutting makes fit, and says so', () => {
    const long = [{ id: '0198b0f4-1111-7000-8000-000000000001', name: 'a name that goes on', state: 'running' }];
    expect(renderTable(long, columns, { kind: 'wide' }, {}, { colour: false, width: 40 })).toEqual({
      text: 'NAME                  STATE\na name that goes on   running\n',
      leftOut: ['id'],
    });
  });

  it('counts wide characters as the terminal does', () => {
    const wide = [{ id: '1', name: '仮想マシン', state: 'running' }];
    expect(renderTable(wide, columns, { kind: 'table' }, {}, plainly).text).toBe(
      'NAME         STATE\n仮想マシン   running\n',
    );
  });
});

describe('renderData', () => {
  it('gives programs what they can read', () => {
    expect(JSON.parse(renderData(rows, { kind: 'json' }))).toEqual(rows);
    expect(renderData(rows, { kind: 'yaml' })).toBe(
      '- id: "1"\n  name: web\n  state: running\n- id: "2"\n  name: database\n  state: ""\n',
    );
    expect(renderData(rows, { kind: 'name' })).toBe('web\ndatabase\n');
    expect(renderData([], { kind: 'json' })).toBe('[]\n');
    expect(renderData([], { kind: 'name' })).toBe('');
  });

  it.each([
    ['jsonpath=$[*].name', 'web\ndatabase\n'],
    ['jsonpath={[*].name}', 'web\ndatabase\n'],
    ['jsonpath=$[?@.state == "running"].id', '1\n'],
    ['jsonpath=$[0]', '{"id":"1","name":"web","state":"running"}\n'],
    ['jsonpath=$[7]', ''],
  ])('finds by %s', (option, text) => expect(renderData(rows, parseOutputFormat(option), findByPath)).toBe(text));

  it('says what is wrong with a path', () => {
    expect(() => renderData(rows, parseOutputFormat('jsonpath=$['), findByPath)).toThrow(
      /--output: \$\[ is not a JSONPath/,
    );
    expect(() => parseOutputFormat('jsno')).toThrow('--output: "jsno" is not a form of output; did you mean json?');
  });

  it('names an object by its name, else its id', () => {
    expect(nameOf({ id: 'x', userName: 'anna' })).toBe('anna');
    expect(nameOf({ instance: { name: 'web' }, taskId: 't' })).toBe('web');
    expect(nameOf({ id: 'x' })).toBe('x');
  });
});
