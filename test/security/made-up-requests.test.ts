import { ManagementStack } from './management-stack';
import { runSchemathesis, schemathesisLacks } from './schemathesis';

jest.setTimeout(400_000);

/** The same requests in every run: what fails here fails again. */
const bounds = [
  '--max-examples',
  '12',
  '--max-time',
  '75',
  '--phases',
  'coverage,fuzzing',
  '--generation-deterministic',
  '--request-timeout',
  '10',
  '--workers',
  '1',
];
const checks =
  'not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance';

const lacks = schemathesisLacks();

describe('requests made up from the OpenAPI document', () => {
  let stack: ManagementStack;
  beforeAll(async () => {
    if (lacks === undefined) stack = await ManagementStack.start();
  });
  afterAll(() => stack?.close());

  (lacks === undefined ? it : it.skip)(
    `get no 500, and nothing that the document does not say${lacks === undefined ? '' : ` (schemathesis: ${lacks})`}`,
    async () => {
      // An API token: a session would end with the first request to log out.
      const { token } = await stack.admin.ok('POST', '/api-tokens', { name: 'made-up' });
      const { code, output } = await runSchemathesis(
        [
          'run',
          `${stack.url}/api/v1/openapi.json`,
          '--tls-verify',
          'false',
          '--header',
          `Authorization: Bearer ${token}`,
          '--checks',
          checks,
          ...bounds,
          '--exclude-path',
          '/events',
          '--warnings',
          'off',
          '--no-color',
          '--continue-on-failure',
        ],
        180_000,
      );
      if (code !== 0) throw new Error(`schemathesis ended with ${code}:\n${output.slice(-12_000)}`);
      expect(output).toMatch(/\d+ passed|No issues found/);
      const failures = stack.logs.filter((line) => line.includes('a request failed unexpectedly'));
      expect(failures).toEqual([]);
    },
  );
});
