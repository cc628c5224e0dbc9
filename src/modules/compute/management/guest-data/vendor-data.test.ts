import { vendorDataOf } from './vendor-data';

/** Headers and body of every part that is no multipart itself, as a reader of MIME finds them. */
const partsOf = (message: string): { headers: string; body: string }[] => {
  const end = message.indexOf('\n\n');
  const headers = message.slice(0, end);
  const body = message.slice(end + 2);
  const boundary = /boundary="([^"]+)"/.exec(headers)?.[1];
  if (boundary === undefined)
    return [{ headers, body: /base64/.test(headers) ? Buffer.from(body, 'base64').toString() : body }];
  const [, ...rest] = `\n${body}`.split(`\n--${boundary}`);
  expect(rest.pop()).toBe('--\n');
  return rest.flatMap((text) => partsOf(text.replace(/^\n/, '')));
};

describe('vendor data of an image and a flavor', () => {
  it('is passed on as it is where only one has some', () => {
    expect(vendorDataOf({ image: '', flavor: '' })).toBe('');
    expect(vendorDataOf({ image: '#cloud-config\n{}\n', flavor: '' })).toBe('#cloud-config\n{}\n');
    expect(vendorDataOf({ image: '', flavor: '#!/bin/sh\n' })).toBe('#!/bin/sh\n');
  });

  it('is one message of both, the image first, each text byte for byte', () => {
    const image = `#cloud-config\r\nfinal_message: Zürich ${'x'.repeat(200)}`;
    const flavor = '#!/bin/sh\n--=====\necho 1\n\n';
    const parts = partsOf(vendorDataOf({ image, flavor }));
    expect(parts.map(({ body }) => body)).toEqual([image, flavor]);
    expect(parts.map(({ headers }) => /filename="([^"]+)"/.exec(headers)?.[1])).toEqual(['1-image', '2-flavor']);
  });

  it('takes in a text that is a message already, even one of these', () => {
    const message = 'MIME-Version: 1.0\nContent-Type: text/x-shellscript\n\n#!/bin/sh\n';
    const both = vendorDataOf({ image: message, flavor: '#cloud-config\n{}' });
    expect(partsOf(both).map(({ body }) => body)).toEqual(['#!/bin/sh\n', '#cloud-config\n{}']);
    expect(partsOf(vendorDataOf({ image: both, flavor: both })).map(({ body }) => body)).toEqual([
      '#!/bin/sh\n',
      '#cloud-config\n{}',
      '#!/bin/sh\n',
      '#cloud-config\n{}',
    ]);
  });
});
