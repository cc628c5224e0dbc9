/**
 * Preloaded into a process (`node --require`): at SIGUSR2 it collects its garbage and writes what memory it has left to
 * the file that VC_STACK_TEST_MEMORY_FILE names, with the number of times that it was asked.
 */
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');
const { renameSync, writeFileSync } = require('node:fs');

const file = process.env.VC_STACK_TEST_MEMORY_FILE;
let times = 0;
let mostHeap = 0;
process.on('SIGUSR2', () => {
  // Pages that V8 had taken for its heap it keeps, empty, for a long time.
  mostHeap = Math.max(mostHeap, process.memoryUsage().heapTotal);
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external, rss } = process.memoryUsage();
  times += 1;
  writeFileSync(
    `${file}.new`,
    JSON.stringify({ times, heapBytes: heapUsed + external, residentBytes: rss - mostHeap }),
  );
  renameSync(`${file}.new`, file);
});
