import 'reflect-metadata';
import { loadavg } from 'node:os';
import type { Figure, Row } from './harness/figure';
import { Lab } from './harness/lab';
import { BenchPostgres } from './harness/postgres';
import { asJson, asTable } from './harness/report';
import { agentVerbs } from './figures/agent-verbs.figure';
import { bootWays } from './figures/boot-ways.figure';
import { consoleSize } from './figures/console-size.figure';
import { createLatency } from './figures/create-latency.figure';
import { createRate } from './figures/create-rate.figure';
import { crowdedAgent } from './figures/crowded-agent.figure';
import { heartbeats } from './figures/heartbeats.figure';
import { imageUploads } from './figures/image-uploads.figure';
import { idleMemory } from './figures/idle-memory.figure';
import { listPages } from './figures/list-pages.figure';
import { placementRate } from './figures/placement-rate.figure';
import { realGuest } from './figures/real-guest.figure';
import { requestRate } from './figures/request-rate.figure';
import { vmmStart } from './figures/vmm-start.figure';
import { workflowMix } from './figures/workflow-mix.figure';
import { workflowRate } from './figures/workflow-rate.figure';

const figures: readonly Figure[] = [
  consoleSize,
  workflowRate,
  workflowMix,
  listPages,
  requestRate,
  createLatency,
  createRate,
  placementRate,
  heartbeats,
  imageUploads,
  idleMemory,
  agentVerbs,
  crowdedAgent,
  vmmStart,
  bootWays,
  realGuest,
];

interface Options {
  json: boolean;
  only: string;
}

const parse = (argv: readonly string[]): Options => {
  const options: Options = { json: false, only: '' };
  const words = [...argv];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--json') options.json = true;
    else if (word === '--only') options.only = (words.shift() ?? '').toLowerCase();
    else
      throw new Error(
        `unknown option ${word}: npm run bench -- [--json] [--only <part of a figure's name>]\nfigures: ${figures.map((f) => f.name).join(', ')}`,
      );
  }
  return options;
};

const within = async <T>(work: Promise<T>, minutes: number): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${minutes} minutes`)), minutes * 60_000);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

/**
 * With VC_STACK_BENCH_PROFILES=<folder> every process of ours leaves its CPU profile there; with VC_STACK_BENCH_KEEP=1
 * their files stay.
 */
const main = async (): Promise<void> => {
  const { json, only } = parse(process.argv.slice(2));
  const chosen = figures.filter((figure) => figure.name.toLowerCase().includes(only));
  if (chosen.length === 0)
    throw new Error(`no figure has "${only}" in its name: ${figures.map((f) => f.name).join(', ')}`);
  const postgres = new BenchPostgres();
  const rows: Row[] = [];
  let lab: Lab | undefined;
  let interrupted = false;
  const clean = async (): Promise<void> => {
    await lab?.close();
    await postgres.stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      interrupted = true;
      void clean().finally(() => process.exit(130));
    });
  }
  try {
    for (const figure of chosen) {
      process.stderr.write(`${figure.name} (load ${loadavg()[0]?.toFixed(1) ?? '?'})\n`);
      lab = new Lab(postgres, json);
      try {
        rows.push(...(await within(figure.run(lab), figure.limitMinutes)));
      } catch (error) {
        if (!interrupted)
          process.stderr.write(
            `  ${figure.name} could not be measured: ${error instanceof Error ? error.message : String(error)}\n`,
          );
        process.exitCode = 1;
      } finally {
        await lab.close();
      }
    }
  } finally {
    await clean();
  }
  if (!interrupted) process.stdout.write(json ? asJson(rows) : asTable(rows));
};

main().catch((error: unknown) => {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
