import { isPublicAddress, urlFault } from './address-rules';

it.each([
  '127.0.0.1',
  '10.0.0.1',
  '172.16.5.5',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '::1',
  '::',
  'fe80::1',
  'fd00::1',
  '::ffff:127.0.0.1',
  '::ffff:a00:1',
  '64:ff9b::a00:1',
  '2002:a00:1::',
  '::127.0.0.1',
  '::7f00:1',
  '::10.1.2.3',
  '::ffff:0:127.0.0.1',
  '64:ff9b:1::a00:1',
  '2001:0:7f00:1::',
  'fec0::1',
  'ff02::1',
  '100::1',
  '5f00::1',
  '2001:db8::1',
  '192.0.2.1',
  '198.18.0.1',
  '0.1.2.3',
  '240.0.0.1',
  'nonsense',
])('keeps away from %s', (address) => expect(isPublicAddress(address)).toBe(false));

it.each(['1.1.1.1', '93.184.216.34', '2606:4700::1111'])('may go to %s', (address) =>
  expect(isPublicAddress(address)).toBe(true),
);

it.each([
  'http://127.0.0.1/x',
  'http://2130706433/x',
  'http://0x7f.1/x',
  'http://[::1]/x',
  'http://[::ffff:10.0.0.1]/',
  'http://[::127.0.0.1]/',
  'http://[::7f00:1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[2002:7f00:1::]/',
  'http://127.1/',
  'http://0/',
  'http://0177.0.0.1/',
  'http://127.0.0.1./',
  'http://localhost./x',
  'http://[fe80::1]/',
  'http://localhost/x',
  'http://a.localhost/x',
  'ftp://example.org/x',
  'file:///etc/passwd',
])('refuses %s', (url) => expect(urlFault(url, false)?.code).toBe('url_not_allowed'));

it('refuses credentials, and lets the operator allow private addresses', () => {
  expect(urlFault('https://u:p@example.org/x', true)?.code).toBe('url_credentials');
  expect(urlFault('http://127.0.0.1/x', true)).toBeNull();
  expect(urlFault('https://example.org/x', false)).toBeNull();
});
