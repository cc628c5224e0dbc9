/** ESM-only packages that Jest cannot `require` before Node 24.9: they are compiled like our own files. */
const esmOnly = [
  'inversify',
  '@inversifyjs',
  'jose',
  '@peculiar',
  'pvtsutils',
  'uuid',
  '@simplewebauthn',
  'cborg',
  'p-limit',
  'yocto-queue',
];
const base = {
  testEnvironment: 'node',
  transform: { '^.+\\.(t|j|mj)s$': ['@swc/jest', { ...require('./test/support/swc.json'), swcrc: false }] },
  transformIgnorePatterns: [`/node_modules/(?!(${esmOnly.join('|')})/)`],
  setupFiles: ['reflect-metadata', '<rootDir>/test/support/script-children.js'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'json', 'node'],
  // Sources name compiled files (`./x.js`) in dynamic imports, as Node resolves them in dist.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
};
module.exports = {
  projects: [
    {
      ...base,
      displayName: 'unit',
      testMatch: [
        '<rootDir>/src/**/*.test.ts',
        '<rootDir>/web/src/**/*.test.ts',
        '<rootDir>/migrations/**/*.test.ts',
        '<rootDir>/bench/**/*.test.ts',
        '<rootDir>/test/check/**/*.test.js',
      ],
    },
    { ...base, displayName: 'integration', testMatch: ['<rootDir>/test/integration/**/*.test.ts'] },
    { ...base, displayName: 'conformance', testMatch: ['<rootDir>/test/conformance/**/*.test.ts'] },
    { ...base, displayName: 'compat', testMatch: ['<rootDir>/test/compat/**/*.test.ts'] },
    { ...base, displayName: 'network', testMatch: ['<rootDir>/test/network/**/*.test.ts'] },
    { ...base, displayName: 'security', testMatch: ['<rootDir>/test/security/**/*.test.ts'] },
    { ...base, displayName: 'guests', testMatch: ['<rootDir>/test/guests/**/*.test.ts'] },
    { ...base, displayName: 'e2e', testMatch: ['<rootDir>/test/e2e/**/*.test.ts'] },
  ],
};
