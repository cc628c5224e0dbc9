import { parseEvents, shutDownInOrder } from './ch-events';

const event = (source: string, name: string): string =>
  `${JSON.stringify({ timestamp: { secs: 1, nanos: 2 }, source, event: name, properties: null }, null, 2)}\n\n`;

describe('events', () => {
  it('reads pretty-printed objects, without the first and last that were cut', () => {
    const text = `"x"\n}\n\n${event('vm', 'booted')}${event('vm', 'shutdown')}{\n  "time`;
    expect(parseEvents(text).map(({ source, event: name }) => `${source}/${name}`)).toEqual([
      'vm/booted',
      'vm/shutdown',
    ]);
    expect(shutDownInOrder(parseEvents(text))).toBe(true);
  });
  it("takes no other shutdown for the VM's", () => {
    expect(shutDownInOrder(parseEvents(event('guest', 'shutdown') + event('vm', 'rebooted')))).toBe(false);
    expect(parseEvents('')).toEqual([]);
  });
});
