import { vcctl } from './command';

describe('the vcctl line of a form', () => {
  it('quotes what a shell would read otherwise, and leaves out what is not set', () => {
    expect(
      vcctl(['network', 'create', "Anna's net"], {
        subnet: '10.1.0.0/24',
        dns: ['1.1.1.1', '8.8.8.8'],
        'no-nat': true,
        gateway: '',
        description: undefined,
      }),
    ).toBe(`vcctl network create 'Anna'\\''s net' --subnet 10.1.0.0/24 --dns 1.1.1.1 --dns 8.8.8.8 --no-nat`);
    expect(vcctl(['instance', 'delete', '$(reboot)'])).toBe(`vcctl instance delete '$(reboot)'`);
  });
});
