import fc from 'fast-check';
import { decodeBody, flag, list, object, optional, required, text, u16, variant } from './decode';
import { readJson, skipNode, type JsonNode } from './json-node';

const plain = (node: JsonNode): unknown => {
  if (node.kind === 'array') return node.items.map(plain);
  if (node.kind === 'object') return Object.fromEntries(node.members.map(({ key, value }) => [key, plain(value)]));
  return 'value' in node ? node.value : null;
};
const readable = (content: string): boolean => {
  const { node, trailing } = readJson(content);
  try {
    skipNode(node);
    return trailing === null;
  } catch {
    return false;
  }
};

describe('readJson', () => {
  it('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), fc.nat(2), (value, indent) => {
        const content = JSON.stringify(value, null, indent);
        expect(JSON.stringify(plain(readJson(content).node))).toBe(JSON.stringify(JSON.parse(content)));
      }),
    );
  });
  it('refuses what JSON.parse refuses, wherever the text is cut or changed', () => {
    const parses = (content: string): boolean => {
      try {
        JSON.parse(content);
        return true;
      } catch {
        return false;
      }
    };
    const broken = fc
      .tuple(fc.jsonValue(), fc.nat(200), fc.constantFrom('', ',', '}', ']', '"', '1', ' x', '\\'))
      .map(([value, at, put]) => {
        const content = JSON.stringify(value);
        return content.slice(0, at % (content.length + 1)) + put + content.slice((at % (content.length + 1)) + 1);
      });
    fc.assert(
      fc.property(broken, (content) => expect([content, readable(content)]).toEqual([content, parses(content)])),
    );
  });
});

describe('decodeBody', () => {
  const thing = object('Thing', {
    name: required(text),
    mode: optional(variant('A', 'B')),
    sizes: optional(list(u16)),
    on: optional(flag, { alias: 'enabled' }),
  });
  const fault = (body: string): string => {
    try {
      decodeBody(thing, body);
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error('decoded');
  };

  it.each([
    ['', 'EOF while parsing a value at line 1 column 0'],
    ['nul', 'EOF while parsing a value at line 1 column 3'],
    ['nulx', 'expected ident at line 1 column 4'],
    ['{"name" 1}', 'expected `:` at line 1 column 9'],
    ['{"name":"x",}', 'trailing comma at line 1 column 13'],
    ['{name:1}', 'key must be a string at line 1 column 2'],
    ['{"sizes":[1 2]}', 'expected `,` or `]` at line 1 column 13'],
    ['{"sizes":[1.5]}', 'invalid type: floating point `1.5`, expected u16 at line 1 column 13'],
    ['{"sizes":[70000]}', 'invalid value: integer `70000`, expected u16 at line 1 column 15'],
    ['{"mode":"C"}', 'unknown variant `C`, expected `A` or `B` at line 1 column 11'],
    ['{"mode":1}', 'expected value at line 1 column 9'],
    ['{"name":"x","name":"y"}', 'duplicate field `name` at line 1 column 18'],
    ['{"on":true,"enabled":true}', 'duplicate field `on` at line 1 column 20'],
    ['{"on":null}', 'missing field `name` at line 1 column 11'],
    ['{\n"name":\n true}', 'invalid type: boolean `true`, expected a string at line 3 column 5'],
    // A wrong type is met before the end that is missing.
    ['{"name":1,', 'invalid type: integer `1`, expected a string at line 1 column 9'],
    ['{"other":[1,', 'EOF while parsing a value at line 1 column 12'],
    ['[]', 'invalid length 0, expected struct Thing with 4 elements at line 1 column 2'],
  ])('%s: %s', (body, expected) => expect(fault(body)).toBe(expected));
  it('takes the other name, and a list in the order of the members', () => {
    expect(decodeBody(thing, '{"name":"x","enabled":true,"other":{}}')).toMatchObject({ name: 'x', on: true });
    expect(decodeBody(thing, '["x","A"]')).toMatchObject({ name: 'x', mode: 'A', sizes: null });
  });
});
