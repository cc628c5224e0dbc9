const { statSync } = require('node:fs');

/**
 * The files that take longest, longest first: begun last, one of them would run on alone while the other cores wait.
 * All others follow by size, and so in the same order in every run. A file that is missing here costs time, nothing
 * else.
 */
const longest = [
  'test/e2e/console/pages.test.ts',
  // Waits nearly all of its time: beside a browser it costs nothing.
  'test/e2e/outages.test.ts',
  'test/e2e/several-management.test.ts',
  'test/e2e/main-job.test.ts',
  'test/e2e/console/instances.test.ts',
  'test/e2e/console/connection.test.ts',
  'test/e2e/model.test.ts',
  'test/security/made-up-requests.test.ts',
  'test/security/malformed-http.test.ts',
  'test/security/children.test.ts',
  'test/security/guest-packets.test.ts',
  'test/integration/image/hostile-servers.test.ts',
  'test/integration/image/images.test.ts',
  'test/integration/network/linux-driver.test.ts',
  'test/integration/image/failed-bytes.test.ts',
  'test/integration/image/odd-images.test.ts',
  'test/integration/compute/qemu.driver.test.ts',
  'test/integration/m2m/liveness.test.ts',
];
const rank = ({ path }) => {
  const at = longest.findIndex((name) => path.endsWith(`/${name}`));
  return at < 0 ? longest.length : at;
};

/** A jest test sequencer. */
module.exports = class LongestFirst {
  sort(tests) {
    return [...tests].sort((a, b) => rank(a) - rank(b) || statSync(b.path).size - statSync(a.path).size);
  }

  /** Jest offers to keep how long each file took: the order is to be the same everywhere. */
  cacheResults() {}
};
