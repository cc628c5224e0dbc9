const { appendFileSync } = require('node:fs');

/**
 * A jest reporter that writes what happens to the file `VC_STACK_TEST_PROGRESS`, a line of JSON each, as it happens: a
 * run that is ended at its deadline, or that dies, has told all that it had seen. `summary.js` reads it.
 */
module.exports = class ProgressReporter {
  onTestFileStart(test) {
    this.write({ kind: 'file', path: test.path });
  }

  onTestCaseStart(test, { fullName }) {
    this.write({ kind: 'start', path: test.path, name: fullName });
  }

  onTestCaseResult(test, { fullName, status, failureMessages }) {
    this.write({ kind: 'case', path: test.path, name: fullName, status, messages: failureMessages });
  }

  onTestFileResult(test, { testResults, testExecError, failureMessage }) {
    const cases = testResults.map(({ fullName, status, failureMessages }) => ({
      name: fullName,
      status,
      messages: failureMessages,
    }));
    // A file that does not load, or whose hooks fail outside of any test, fails without a test.
    const broken = testExecError ? (failureMessage ?? testExecError.message ?? 'failed') : undefined;
    this.write({ kind: 'done', path: test.path, cases, broken });
  }

  onRunComplete() {
    this.write({ kind: 'end' });
  }

  write(line) {
    appendFileSync(process.env['VC_STACK_TEST_PROGRESS'], `${JSON.stringify(line)}\n`);
  }
};
