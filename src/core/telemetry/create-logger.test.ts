import { createLogger } from './create-logger';
import { coreConfigSchema } from '../config/core-config';

describe('createLogger', () => {
  const lines: string[] = [];
  const log = createLogger({ core: coreConfigSchema.parse({}) }, { write: (line: string) => void lines.push(line) });
  beforeEach(() => lines.splice(0));

  it('redacts secrets at any of four levels', () => {
    log.info(
      {
        password: 'p1',
        body: { userData: 'p2', deeper: { refreshToken: 'p3', x: { secret: 'p4' } } },
        req: { headers: { authorization: 'p5' } },
      },
      'in',
    );
    expect(lines[0]).not.toMatch(/p[1-5]/);
    expect(lines[0]).toContain('[redacted]');
  });

  it('leaves statement parameters out of errors', () => {
    log.error(
      {
        err: Object.assign(new Error('failed'), {
          query: 'SELECT $1',
          parameters: ['hunter2'],
          driverError: { detail: 'hunter2' },
        }),
      },
      'query',
    );
    expect(lines[0]).toContain('SELECT $1');
    expect(lines[0]).not.toContain('hunter2');
  });
});
