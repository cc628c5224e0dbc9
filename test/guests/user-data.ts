import { gzipSync } from 'node:zlib';

const boundary = '=====vc-stack=====';

/**
 * Several parts of user data in one, compressed: what tools for cloud-init send when one form is not enough. Base64, as
 * the API takes it.
 */
const multipartUserData = (parts: { type: string; name: string; content: string }[]): string => {
  const body = parts.map(({ type, name, content }) =>
    [
      `--${boundary}`,
      `Content-Type: ${type}; charset="utf-8"`,
      'MIME-Version: 1.0',
      'Content-Transfer-Encoding: base64',
      `Content-Disposition: attachment; filename="${name}"`,
      '',
      Buffer.from(content).toString('base64'),
      '',
    ].join('\n'),
  );
  const message = [
    `Content-Type: multipart/mixed; boundary="${boundary}"`,
    'MIME-Version: 1.0',
    '',
    ...body,
    `--${boundary}--`,
    '',
  ].join('\n');
  return gzipSync(message).toString('base64');
};

/**
 * Writes a line at each run of what must run once in a guest's life: by `runcmd`, and by a script. One host key, for
 * RSA takes an emulated guest long.
 */
export const runsOnce = multipartUserData([
  {
    type: 'text/cloud-config',
    name: 'config.yaml',
    content: '#cloud-config\nssh_genkeytypes: [ed25519]\nruncmd:\n  - echo runcmd >> /var/lib/t-runs\n',
  },
  { type: 'text/x-shellscript', name: 'script.sh', content: '#!/bin/sh\necho script >> /var/lib/t-runs\n' },
]);
