import { tellsOfOomKill } from './kernel-report';

describe("the kernel's report of what it ended for want of memory", () => {
  const record =
    '3,51200,76972291234,-;Memory cgroup out of memory: Killed process 4711 (qemu-system-x86) total-vm:812340kB, anon-rss:260012kB, file-rss:12288kB, shmem-rss:0kB, UID:1911000016 pgtables:900kB oom_score_adj:0\n';
  it('is of the user whose process it was', () => {
    expect(tellsOfOomKill(record, 1_911_000_016)).toBe(true);
    expect(tellsOfOomKill(record, 191_100_001)).toBe(false);
    expect(
      tellsOfOomKill(record.replace('Killed process 4711', 'oom_reaper: reaped process 4711'), 1_911_000_016),
    ).toBe(false);
  });
});
