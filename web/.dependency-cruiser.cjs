const { forbidden, options } = require('../.dependency-cruiser.cjs');

/** The console: no import goes in a circle, types included. */
module.exports = {
  forbidden: forbidden.filter(({ name }) => name === 'no-circular'),
  options: { ...options, tsConfig: { fileName: 'tsconfig.json' } },
};
