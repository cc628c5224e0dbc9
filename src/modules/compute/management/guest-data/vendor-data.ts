import { createHash } from 'node:crypto';

/** Made of the texts, so that none of them can hold it. */
const boundaryOf = (...texts: string[]): string =>
  `=====${createHash('sha256').update(texts.join('\0')).digest('hex')}=====`;

/** Texts that are a message with headers already; their own parts are found inside of the whole. */
const isMessage = (text: string): boolean => /^(content-type|mime-version):/i.test(text);

const part = (text: string, filename: string): string =>
  isMessage(text)
    ? text
    : [
        // The form of plain text is told from its first line by the guest, as that of vendor data that comes alone.
        'Content-Type: text/plain; charset="utf-8"',
        'MIME-Version: 1.0',
        'Content-Transfer-Encoding: base64',
        `Content-Disposition: attachment; filename="${filename}"`,
        '',
        (
          Buffer.from(text)
            .toString('base64')
            .match(/.{1,76}/g) ?? []
        ).join('\n'),
      ].join('\n');

/**
 * What a guest gets as vendor data; empty for none. Both texts as parts of one MIME message when there are two, the
 * image's first: cloud-init reads parts in their order, and of two values for one key takes the later, so the flavor's
 * wins, which is the operator's. Scripts run in the order of their names.
 */
export const vendorDataOf = ({ image, flavor }: { image: string; flavor: string }): string => {
  if (image === '' || flavor === '') return image + flavor;
  const boundary = boundaryOf(image, flavor);
  return [
    `Content-Type: multipart/mixed; boundary="${boundary}"`,
    'MIME-Version: 1.0',
    '',
    `--${boundary}`,
    part(image, '1-image'),
    `--${boundary}`,
    part(flavor, '2-flavor'),
    `--${boundary}--`,
    '',
  ].join('\n');
};
