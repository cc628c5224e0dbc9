import { createDataSource } from '../../src/core/db/data-source';
import { Database } from '../../src/core/db/database';
import { WorkflowProbe, type ProbeBoundary } from '../../src/core/workflow/run/workflow-probe';
import { chaosWorkflow, DurableNode, followUp } from './chaos-workflow';
import { newEngine } from './workflow-harness';

/**
 * A worker process that kills or freezes itself at one boundary: `chaos-worker.ts <url> <signal> <phase/step/point>
 * <leaseMs>`.
 */
class DeadlyProbe extends WorkflowProbe {
  private reached = false;

  constructor(
    private readonly signal: 'SIGKILL' | 'SIGSTOP',
    private readonly boundary: string,
  ) {
    super();
  }

  override async at(b: ProbeBoundary): Promise<void> {
    if (this.reached || `${b.phase}/${b.step}/${b.point}` !== this.boundary) return;
    this.reached = true;
    process.stdout.write('reached\n');
    process.kill(process.pid, this.signal);
    // A stopped process comes back here and goes on as if nothing had been.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const main = async (): Promise<void> => {
  const [url = '', signal = 'SIGKILL', boundary = '', leaseMs = '1000'] = process.argv.slice(2);
  const dataSource = createDataSource(url, { pool: 6, idleInTransactionMs: Number(leaseMs) });
  await dataSource.initialize();
  const database = new Database(dataSource);
  const probe = new DeadlyProbe(signal === 'SIGSTOP' ? 'SIGSTOP' : 'SIGKILL', boundary);
  const engine = newEngine(database, [chaosWorkflow(database), followUp()], {
    nodes: new DurableNode(database),
    probe,
    settings: { leaseMs: Number(leaseMs) },
  });
  await engine.start();
  process.stdout.write('started\n');
};

void main();
