import globals from 'globals';
import tseslint from 'typescript-eslint';

const libraryInternals = {
  group: ['typeorm/*', 'pg/*'],
  message: 'What these libraries do not offer openly is taken in core/db/library-internals.ts alone.',
};

/** A class that does something: not a port (abstract), not an error that goes with the class beside it. */
const exportedClass =
  "ExportNamedDeclaration[declaration.type='ClassDeclaration'][declaration.abstract!=true][declaration.superClass.name!=/(Error|Failure|Problem)$/]";

export default tseslint.config(
  { ignores: ['dist/', 'web/dist/', 'node_modules/', 'coverage/', '.cache/', '.state/'] },
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: {
      parserOptions: { projectService: { allowDefaultProject: ['web/*.ts'] }, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/ban-ts-comment': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'off',
      'no-console': 'error',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
    },
  },
  { files: ['**/*.ts'], rules: { 'no-restricted-imports': ['error', { patterns: [libraryInternals] }] } },
  {
    files: ['src/**/*.ts'],
    ignores: [
      'src/**/*.entity.ts',
      'src/**/*.repository.ts',
      'src/core/db/**',
      'src/core/app/**',
      'src/**/*.test.ts',
      'src/core/http/problems/problem-mapping.ts',
    ],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: 'typeorm',
              message: 'TypeORM lives in entities, repositories and core/db.',
              allowTypeImports: true,
            },
          ],
          patterns: [libraryInternals],
        },
      ],
    },
  },
  {
    files: ['{src,web/src}/**/*.{ts,tsx}'],
    // Made by a program.
    ignores: ['src/rest/rest-paths.ts'],
    rules: {
      'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ['{src,web/src,test,bench}/**/*.{ts,tsx}'],
    ignores: ['src/rest/rest-paths.ts'],
    rules: { 'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }] },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/core/periodic/**', 'src/**/cli/**', 'src/**/simulated-vmm/**', 'src/**/*.test.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        { name: 'setInterval', message: 'Periodic work is registered (core/periodic). A timer of one thing says so.' },
      ],
    },
  },
  {
    files: ['{src,web/src,test,bench}/**/*.{ts,tsx}'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: `Program > ${exportedClass} ~ ${exportedClass}`,
          message: 'One exported class per file. Ports (abstract classes) and errors may stand beside it.',
        },
      ],
    },
  },
  // A suite is one function, whatever it holds; and a workflow is one list of steps, read from top to bottom.
  { files: ['**/*.test.ts', 'src/**/*.workflow.ts'], rules: { 'max-lines-per-function': 'off' } },
  { files: ['bench/**/*.ts', 'test/**/*.ts', 'web/**/*.{ts,tsx,mjs}'], rules: { 'no-console': 'off' } },
  {
    files: ['**/*.cjs', '**/*.js'],
    languageOptions: { globals: globals.node },
    rules: { '@typescript-eslint/no-require-imports': 'off', 'no-console': 'off' },
  },
  // The alias's own types name another module: only a reference reaches them.
  { files: ['test/support/*.d.ts'], rules: { '@typescript-eslint/triple-slash-reference': 'off' } },
  { files: ['**/*.mjs'], languageOptions: { globals: globals.node } },
);
