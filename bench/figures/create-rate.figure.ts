import type { Figure } from '../harness/figure';
import { CommitCounter } from '../harness/commit-counter';
import { ControlPlane } from '../harness/control-plane';
import type { Lab } from '../harness/lab';
import { BareTransactions } from '../harness/bare-transactions';
import { inLanes, percentile, timed } from '../harness/statistics';

const hosts = 50;
const creates = 600;
const inFlight = 32;
/** Connections of one management process, by default. */
const pool = 20;

const each = (seconds: number): string => `${((seconds * 1000) / creates).toFixed(1)} ms`;

/** Creates at once on many simulated hosts, and their deletes. A create that fails is counted and fails the figure. */
export const createRate: Figure = {
  name: 'create, sustained',
  limitMinutes: 10,
  async run(lab: Lab) {
    const plane = await ControlPlane.start(lab, 'create_rate', { VC_STACK_MODULES__HOST__CPU_OVERCOMMIT: '64' });
    await plane.furnish();
    lab.say(`${hosts} simulated hosts join`);
    const agents = await plane.addHosts(hosts);
    const ids: string[] = [];
    const took: number[] = [];
    const failures: string[] = [];
    const attempt = async (work: () => Promise<unknown>): Promise<void> => {
      try {
        await work();
      } catch (error) {
        failures.push(error instanceof Error ? error.message : String(error));
      }
    };
    await inLanes(2 * inFlight, inFlight, (i) => attempt(async () => ids.push(await plane.create(`warm-${i}`))));
    lab.say(`${creates} creates, ${inFlight} in flight`);
    const parts = {
      management: plane.management,
      'its hosts': agents,
      PostgreSQL: lab.postgres,
      'the client': {
        get cpuSeconds() {
          return process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6;
        },
      },
    };
    const counter = await CommitCounter.open(lab);
    const before = Object.entries(parts).map(([name, part]) => ({ name, part, seconds: part.cpuSeconds }));
    let createMs = 0;
    const commits = await counter.during(async () => {
      createMs = await timed(() =>
        inLanes(creates, inFlight, (i) =>
          attempt(async () => {
            took.push(await timed(async () => ids.push(await plane.create(`sustained-${i}`))));
          }),
        ),
      );
    });
    const perCreate = Math.round(commits / creates);
    lab.say(
      `${((creates * 1000) / createMs).toFixed(1)} creates/s of ${(commits / creates).toFixed(1)} commits each, p50 ${percentile(took, 0.5).toFixed(0)} ms, p99 ${percentile(took, 0.99).toFixed(0)} ms; processor time of each: ${before.map(({ name, part, seconds }) => `${name} ${each(part.cpuSeconds - seconds)}`).join(', ')}`,
    );
    lab.say(`deleting ${ids.length}`);
    const removeMs = await timed(() => inLanes(ids.length, inFlight, (i) => attempt(() => plane.remove(ids[i] ?? ''))));
    if (failures.length > 0) throw new Error(`${failures.length} creates or deletes failed, the first: ${failures[0]}`);
    const bare = await BareTransactions.open(plane.databaseUrl, pool);
    lab.defer(() => bare.close());
    const bareMs = await timed(() => inLanes(creates, inFlight, () => bare.several(perCreate)));
    const perSecond = (count: number, ms: number): number => (count * 1000) / ms;
    return [
      {
        figure: `create, sustained on ${hosts} simulated hosts`,
        ours: perSecond(creates, createMs),
        reference: perSecond(creates, bareMs),
        unit: '/s',
        note: `aim: at least 80/s and none fails; ${creates} creates, ${inFlight} in flight; reference: as many bare transactions as each commits, ${perCreate} by the server's log, ${pool} connections`,
      },
      {
        figure: `delete, sustained on ${hosts} simulated hosts`,
        ours: perSecond(ids.length, removeMs),
        reference: perSecond(creates, bareMs),
        unit: '/s',
        note: 'the same instances; reference: as above',
      },
    ];
  },
};
