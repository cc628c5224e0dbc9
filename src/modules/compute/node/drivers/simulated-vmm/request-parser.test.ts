import fc from 'fast-check';
import { RequestParser, type ParsedItem } from './request-parser';

const feed = (text: string, cuts: number[] = []): ParsedItem[] => {
  const parser = new RequestParser({ bodyLimit: 1000, methods: ['GET', 'PUT'] });
  const bytes = Buffer.from(text);
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), 0, bytes.length].sort((a, b) => a - b);
  return places.slice(1).flatMap((end, n) => parser.push(bytes.subarray(places[n] ?? 0, end)));
};

describe('RequestParser', () => {
  const two = 'PUT /a HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}GET /b HTTP/1.1\r\nHost: x\r\n\r\n';
  it('finds the same requests however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(200)), (cuts) => {
        expect(feed(two, cuts)).toEqual([
          { kind: 'request', request: { method: 'PUT', target: '/a', body: '{}' } },
          { kind: 'request', request: { method: 'GET', target: '/b', body: null } },
        ]);
      }),
    );
  });
  it('never throws and never goes on for ever', () => {
    fc.assert(fc.property(fc.string(), fc.array(fc.nat(100)), (text, cuts) => void feed(text, cuts)));
  });
  it('asks for the body only where one is announced', () => {
    expect(feed('PUT /a HTTP/1.1\r\nExpect: 100-continue\r\n\r\n')).toEqual([
      { kind: 'request', request: { method: 'PUT', target: '/a', body: null } },
    ]);
    expect(feed('PUT /a HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n')).toEqual([
      { kind: 'continue' },
    ]);
  });
  it('refuses lines over 1024 bytes, also before they end, and odd lengths', () => {
    expect(feed(`GET /${'x'.repeat(2000)}`)).toMatchObject([{ kind: 'error' }]);
    expect(feed('PUT /a HTTP/1.1\r\nContent-Length: -1\r\n\r\n')).toMatchObject([{ kind: 'error' }]);
    expect(feed('PUT /a HTTP/1.1\r\nContent-Length: 1001\r\n\r\n')).toMatchObject([
      { kind: 'error', text: expect.stringContaining('1001') },
    ]);
  });
});
