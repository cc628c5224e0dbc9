import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import { type PageSize, pageSizes } from '../../../../host/contract/page-sizes';
import type { VmSpec } from '../vmm-driver';

/** Of a host that has not enough of them for a machine. What was missing may be free later. */
export const noHugePages = (pageSize: PageSize, detail: string): VerbFailure =>
  new VerbFailure('no_huge_pages', `The host has too few huge pages of ${pageSize} free.`, false, {}, { detail });

const count = async (pageSize: PageSize, name: string): Promise<number> => {
  const pool = `/sys/kernel/mm/hugepages/hugepages-${pageSizes[pageSize] / 1024}kB`;
  return Number.parseInt(await readFile(join(pool, name), 'utf8').catch(() => ''), 10) || 0;
};

/**
 * There are as many free as the machine will have, and nobody was promised them. Whoever is faster all the same is told
 * by the kernel, when the VMM starts. Throws `VerbFailure` `no_huge_pages`.
 */
export const checkHugePages = async ({ memoryBytes, hardware = {} }: VmSpec): Promise<void> => {
  const { pageSize } = hardware;
  if (pageSize === undefined) return;
  const needed = memoryBytes / pageSizes[pageSize];
  const [free, promised] = await Promise.all([count(pageSize, 'free_hugepages'), count(pageSize, 'resv_hugepages')]);
  const left = Math.max(0, free - promised);
  if (left < needed) throw noHugePages(pageSize, `${needed} are needed and ${left} are free`);
};
