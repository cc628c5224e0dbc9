/** More than any kernel of today is built for: what a file says beyond it is passed over. */
const largestCpu = 16_383;

/**
 * Numbers of CPUs as the kernel writes them (`0-3,8,10-11`), each once and in order. What is not such a list gives null;
 * an empty one is none.
 */
export const parseCpuList = (text: string): number[] | null => {
  const found = new Set<number>();
  for (const part of text
    .trim()
    .split(',')
    .filter((one) => one !== '')) {
    const [, first, last] = /^\s*(\d{1,9})(?:-(\d{1,9}))?\s*$/.exec(part) ?? [];
    if (first === undefined) return null;
    const end = Math.min(Number(last ?? first), largestCpu);
    if (Number(last ?? first) < Number(first)) return null;
    for (let cpu = Number(first); cpu <= end; cpu += 1) found.add(cpu);
  }
  return [...found].sort((a, b) => a - b);
};

/** The other way round. */
export const formatCpuList = (cpus: readonly number[]): string => {
  const ordered = [...new Set(cpus)].sort((a, b) => a - b);
  const ranges: [number, number][] = [];
  for (const cpu of ordered) {
    const range = ranges.at(-1);
    if (range && range[1] + 1 === cpu) range[1] = cpu;
    else ranges.push([cpu, cpu]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
};
