import type { Figure } from '../harness/figure';
import { CommitCounter } from '../harness/commit-counter';
import { ControlPlane } from '../harness/control-plane';
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
    for (let i = 0; i < warmUp; i += 1) await plane.create(`warm-${i}`);
    const counter = await CommitCounter.open(lab);
    const commits = await counter.during(async () => {
      for (let i = 0; i < creates; i += 1) ours.push(await timed(() => plane.create(`alone-${i}`)));
    });
    const perCreate = Math.round(commits / creates);
    lab.say(`${(commits / creates).toFixed(1)} commits of each create`);
    const bare = await BareTransactions.open(plane.databaseUrl, 1);
    lab.defer(() => bare.close());
    const reference: number[] = [];
    for (let i = 0; i < warmUp + creates; i += 1) {
      const ms = await timed(() => bare.several(perCreate));
      if (i >= warmUp) reference.push(ms);
    }
    const row = (share: number, name: string, note: string) => ({
      figure: `create, alone, request to running: ${name}`,
      ours: percentile(ours, share),
      reference: percentile(reference, share),
      unit: 'ms',
      note,
    });
    const what = `${creates} creates on the simulated VMM; reference: as many bare transactions as a create commits, ${perCreate} by the server's log`;
    return [row(0.5, 'p50', `aim: at most 30 ms; ${what}`), row(0.99, 'p99', what)];
  },
};
