import { pino } from 'pino';
import { processStartTime } from '../../../../core/host/processes/process-identity';
import { Logging } from '../../../../core/telemetry/logging';
import type { InstanceMachines } from './instance-machines';
import type { InstanceRecord } from './instance-record';
import type { InstanceRecords } from './instance-records';
import { LostCompanions } from './lost-companions';

const alive = { pid: process.pid, startTime: processStartTime(process.pid) ?? '' };
/** As of one before the machine's boot: its pid is another's by now. */
const gone = { pid: process.pid, startTime: '1' };

const watched = (beside: { name: string; process: typeof alive }[] | undefined, machine = alive) => {
  const record = {
    lost: [] as string[],
    handle: { process: machine, ...(beside && { beside }) },
  } as unknown as InstanceRecord;
  const said: string[] = [];
  let saved = 0;
  const records = {
    all: () => [record],
    get: () => record,
    save: async () => void (saved += 1),
  } as unknown as InstanceRecords;
  const machines = { exclusively: <T>(_id: string, work: () => Promise<T>) => work() } as unknown as InstanceMachines;
  const lost = new LostCompanions(
    records,
    machines,
    { changed: (section: string) => said.push(section) },
    new Logging(pino({ enabled: false })),
  );
  return { look: () => lost.look(), record, said, saves: () => saved };
};

describe('programs beside machines', () => {
  it('are told of once when they have ended although the machine goes on', async () => {
    const { look, record, said, saves } = watched([
      { name: 'TPM', process: alive },
      { name: 'share "media"', process: gone },
    ]);
    await look();
    await look();
    expect(record.lost).toEqual(['share "media"']);
    expect([said, saves()]).toEqual([['instances'], 1]);
  });
  it('are nothing to tell while they run, when the machine has ended with them, and where there are none', async () => {
    for (const one of [
      watched([{ name: 'TPM', process: alive }]),
      watched([{ name: 'TPM', process: gone }], gone),
      watched(undefined),
    ]) {
      await one.look();
      expect([one.record.lost, one.said]).toEqual([[], []]);
    }
  });
});
