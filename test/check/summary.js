const { relative } = require('node:path');
const { stripVTControlCharacters } = require('node:util');

/** Logs are shown with their middle cut out: what is told of all failures together stays below so many characters. */
const failuresChars = 6_000;
/** Of one failure at least and at most. */
const failureChars = { min: 120, max: 600 };
const failuresNamed = 40;
/** More tests than this that are skipped by one choice are one line. */
const skippedAlone = 2;
const skippedChars = 200;

const cut = (text, chars) => (text.length <= chars ? text : `${text.slice(0, chars - 1)}…`);

/** A message on one line, without colours, and of its stack only where in the repository it came from. */
const briefly = (message, root = process.cwd()) => {
  const lines = stripVTControlCharacters(message)
    .split('\n')
    .map((line) => line.trim());
  const at = lines.find(
    (line) => line.startsWith('at ') && line.includes(`${root}/`) && !line.includes('node_modules'),
  );
  const where = at === undefined ? undefined : /([^\s(]+:\d+):\d+\)?$/.exec(at)?.[1];
  const text = lines
    .filter((line) => line !== '' && !/^at .*(:\d+:\d+\)?|\(<anonymous>\)|\(native\))$/.test(line))
    .join(' | ');
  return where === undefined ? text : `${relative(root, where)}: ${text}`;
};

/**
 * What the lines of the progress reporter say of a run: `{ passed, failed: [{ name, message }], skipped: [name] }`.
 * `why` is how the run ended when it did not end well: of a run that did not come to its end, the test that was running
 * failed with it.
 */
const countRun = (lines, why) => {
  const files = new Map();
  let ended = false;
  for (const line of lines) {
    const file = files.get(line.path) ?? { cases: [], running: undefined, done: false, broken: undefined };
    if (line.kind === 'end') ended = true;
    else files.set(line.path, file);
    if (line.kind === 'start') file.running = line.name;
    if (line.kind === 'case') {
      file.cases.push(line);
      file.running = undefined;
    }
    if (line.kind === 'done')
      Object.assign(file, { cases: line.cases, broken: line.broken, done: true, running: undefined });
  }
  const failed = [];
  const skipped = [];
  let passed = 0;
  for (const [path, file] of files) {
    for (const { name, status, messages } of file.cases) {
      if (status === 'passed') passed += 1;
      else if (status === 'failed') failed.push({ name, message: briefly(messages[0] ?? '') });
      else skipped.push(name);
    }
    const name = relative(process.cwd(), path);
    if (file.broken !== undefined) failed.push({ name, message: briefly(file.broken) });
    if (!file.done)
      failed.push({
        name: file.running ?? name,
        message: `was running when the suite ended${why === '' ? '' : `: ${why}`}`,
      });
  }
  if (!ended && files.size === 0)
    failed.push({ name: 'the suite itself', message: `ran no test${why === '' ? '' : `: ${why}`}` });
  else if (why !== '' && failed.length === 0) failed.push({ name: 'the suite itself', message: why });
  return { passed, failed, skipped };
};

/**
 * The same of a suite that prints `skipped: <what>` and `FAIL <name>` (with faults below, indented), and counts in its
 * last line.
 */
const countLines = (suite, output, why, tail) => {
  const lines = stripVTControlCharacters(output).trimEnd().split('\n');
  const failed = [];
  lines.forEach((line, i) => {
    if (!line.startsWith('FAIL ')) return;
    const end = lines.findIndex((next, n) => n > i && !next.startsWith('  '));
    failed.push({
      name: line.slice('FAIL '.length),
      message: briefly(lines.slice(i + 1, end < 0 ? undefined : end).join('\n')),
    });
  });
  const skipped = lines.filter((line) => line.startsWith('skipped: ')).map((line) => line.slice('skipped: '.length));
  const last = new RegExp(`^${suite}: (\\d+) passed, (\\d+) failed, (\\d+) skipped$`).exec(lines.at(-1) ?? '');
  if (!last)
    return {
      passed: 0,
      failed: [
        ...failed,
        { name: 'no count in its last line', message: `${why} | ${briefly(tail).slice(-failureChars.max / 2)}` },
      ],
      skipped,
    };
  const [passed, failedCount, skippedCount] = last.slice(1).map(Number);
  while (failed.length < failedCount) failed.push({ name: 'not named', message: '' });
  if (why !== '' && failed.length === 0) failed.push({ name: 'the suite itself', message: why });
  return { passed, failed, skipped, skippedCount };
};

/** One line for each failure, bounded one by one and together. */
const failedLines = (failures) => {
  const named = failures.slice(0, failuresNamed);
  const each = Math.min(
    failureChars.max,
    Math.max(failureChars.min, Math.floor(failuresChars / Math.max(1, named.length))),
  );
  const lines = named.map(({ suite, name, message }) =>
    cut(`failed: ${suite}: ${name}${message === '' ? '' : `: ${message}`}`, each),
  );
  if (failures.length > named.length) lines.push(`failed: and ${failures.length - named.length} more`);
  return lines;
};

/** One line for each skipped test; those of one name up to the last colon stand for one choice and share a line. */
const skippedLines = (skipped) => {
  const groups = new Map();
  for (const { suite, name } of skipped) {
    const colon = name.lastIndexOf(': ');
    const key = `${suite}: ${colon < 0 ? name : name.slice(0, colon)}`;
    groups.set(key, [...(groups.get(key) ?? []), colon < 0 ? name : name.slice(colon + 2)]);
  }
  return [...groups].flatMap(([key, names]) => {
    if (names.length > skippedAlone)
      return [cut(`skipped: ${key}: ${names.length} tests (${names.join(', ')})`, skippedChars)];
    return names.map((name) => cut(`skipped: ${key.endsWith(`: ${name}`) ? key : `${key}: ${name}`}`, skippedChars));
  });
};

module.exports = { briefly, countLines, countRun, failedLines, skippedLines };
