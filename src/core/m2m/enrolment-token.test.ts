import * as fc from 'fast-check';
import { decodeToken, encodeToken } from './enrolment-token';

const token = { address: '192.0.2.1', port: 8445, rootFingerprint: 'ab'.repeat(32), ticket: 'id.secret' };

describe('enrolment token', () => {
  it('comes back as it went', () => {
    const text = encodeToken(token);
    expect(text).toMatch(/^vcsj_[A-Za-z0-9_-]+$/);
    expect(decodeToken(`  ${text}\n`)).toEqual(token);
  });

  it('is null for anything else, never a throw', () => {
    fc.assert(fc.property(fc.string(), (text) => decodeToken(text) === null && decodeToken(`vcsj_${text}`) === null));
    expect(decodeToken(encodeToken({ ...token, port: 0 }))).toBeNull();
    expect(decodeToken(encodeToken({ ...token, rootFingerprint: 'AB' }))).toBeNull();
    expect(decodeToken(`vcsj_${'A'.repeat(10_000)}`)).toBeNull();
  });
});
