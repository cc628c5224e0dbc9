import type { Figure } from '../harness/figure';
import { ControlPlane, transactionsPerCreate } from '../harness/control-plane';
import type { Lab } from '../harness/lab';
import { BareTransactions } from '../harness/bare-transactions';
import { percentile, timed } from '../harness/statistics';

const warmUp = 5;
const creates = 60;

/**
 * One create at a time on one simulated host, from the request to the end of its task: what is left is the control
 * plane's own time.
 */
export const createLatency: Figure = {
  name: 'create, alone',
  limitMinutes: 5,
  async run(lab: Lab) {
    const plane = await ControlPlane.start(lab, 'create_latency', { VC_STACK_MODULES__HOST__CPU_OVERCOMMIT: '64' });
    await plane.furnish();
    await plane.addHosts(1);
    const ours: number[] = [];
    for (let i = 0; i < warmUp + creates; i += 1) {
      const ms = await timed(() => plane.create(`alone-${i}`));
      if (i >= warmUp) ours.push(ms);
    }
    const bare = await BareTransactions.open(plane.databaseUrl, 1);
    lab.defer(() => bare.close());
    const reference: number[] = [];
    for (let i = 0; i < warmUp + creates; i += 1) {
      const ms = await timed(() => bare.several(transactionsPerCreate));
      if (i >= warmUp) reference.push(ms);
    }
    const row = (share: number, name: string, note: string) => ({
      figure: `create, alone, request to running: ${name}`,
      ours: percentile(ours, share),
      reference: percentile(reference, share),
      unit: 'ms',
      note,
    });
    const what = `${creates} creates on the simulated VMM; reference: the ${transactionsPerCreate} transactions of a create, bare`;
    return [row(0.5, 'p50', `aim: at most 250 ms; ${what}`), row(0.99, 'p99', what)];
  },
};
