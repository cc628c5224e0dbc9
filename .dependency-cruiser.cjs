/** The rules of the house that imports can break. */
/** The engine's inner walls: each folder may import those before it. */
const workflowFolders = ['definition', 'storage', 'request', 'run', 'engine'];
const workflowWalls = workflowFolders.slice(0, -1).map((folder, i) => ({
  name: `workflow-${folder}-knows-nothing-above`,
  severity: 'error',
  from: { path: `^src/core/workflow/${folder}/` },
  to: { path: `^src/core/workflow/(${[...workflowFolders.slice(i + 1), 'archive'].join('|')})/` },
}));

module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      comment: 'Neither code nor types refer to each other in a circle.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'core-app-is-the-roof',
      severity: 'error',
      comment: 'The composition of the roles knows the rest of core; nothing in core knows it.',
      from: { path: '^src/core/', pathNot: '^src/core/app/' },
      to: { path: '^src/core/app/' },
    },
    {
      name: 'periodic-work-is-others-work',
      severity: 'error',
      from: { path: '^src/core/(periodic|redis|lifecycle)/' },
      to: { path: '^src/core/(events|http|workflow|m2m|auth)/' },
    },
    ...workflowWalls,
    { name: 'core-knows-no-module', severity: 'error', from: { path: '^src/core/' }, to: { path: '^src/modules/' } },
    {
      name: 'modules-meet-in-contracts',
      severity: 'error',
      comment: 'Another module is reached through its contract/ only.',
      from: { path: '^src/modules/([^/]+)/' },
      to: {
        path: '^src/modules/([^/]+)/',
        pathNot: ['^src/modules/$1/', '^src/modules/[^/]+/contract/', '^src/modules/[^/]+/testing/'],
      },
    },
    {
      name: 'steps-belong-to-their-noun',
      severity: 'error',
      comment: "A workflow composes the steps that another module's contract exports; it does not call its verbs.",
      from: { path: '^src/modules/([^/]+)/management/workflows/' },
      to: { path: '^src/modules/[^/]+/contract/[^/]+\\.verbs\\.ts$', pathNot: '^src/modules/$1/' },
    },
    {
      name: 'testing-is-for-tests',
      severity: 'error',
      comment: 'Releases do not carry it: a manifest may name it, and only tests load it.',
      from: { path: '^src/', pathNot: '(^|/)testing/|\\.module\\.ts$' },
      to: { path: '/testing/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'node-half-is-no-management',
      severity: 'error',
      from: { path: '^src/modules/([^/]+)/node/' },
      to: { path: '^src/modules/[^/]+/management/' },
    },
    {
      name: 'management-half-is-no-node',
      severity: 'error',
      from: { path: '^src/modules/([^/]+)/management/', pathNot: '\\.test\\.ts$' },
      to: { path: '^src/modules/[^/]+/node/' },
    },
    {
      name: 'node-half-has-no-database',
      severity: 'error',
      from: { path: '^src/modules/[^/]+/node/' },
      to: { path: '^(src/core/db/|node_modules/(typeorm|pg)/)', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'contract-stands-alone',
      severity: 'error',
      from: { path: '^src/modules/[^/]+/contract/' },
      to: { path: '^src/modules/[^/]+/(management|node|cli)/' },
    },
    {
      name: 'cli-uses-rest',
      severity: 'error',
      from: { path: '^src/modules/[^/]+/cli/' },
      to: { path: '^src/modules/[^/]+/(management|node)/' },
    },
    {
      name: 'nobody-imports-tests',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.(test|suite)\\.ts$' },
      to: { path: '\\.(test|suite)\\.ts$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default'],
    },
  },
};
