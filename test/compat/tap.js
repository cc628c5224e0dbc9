/**
 * Loaded before a `vc-stack` process (`node --require`): sees every exchange between management and hosts at the
 * servers of both.
 *
 * - `WIRE_TAP_RECORD=<file>`: adds each exchange as a line of JSON.
 * - `WIRE_TAP_AS=<release>`: what goes over the wire is held against that release. A verb's arguments may have no field
 *   that its agents did not know; what a host reports or answers must be what its management reads. What is looked at,
 *   and what does not fit, goes into `WIRE_TAP_REPORT=<file>`.
 */
const { appendFileSync, readFileSync } = require('node:fs');
const https = require('node:https');
const { join } = require('node:path');

// Children of the process are not listened to.
delete process.env.NODE_OPTIONS;
const { WIRE_TAP_RECORD: record, WIRE_TAP_AS: release, WIRE_TAP_REPORT: report } = process.env;

const parse = (buffer) => {
  try {
    return JSON.parse(buffer.toString('utf8'));
  } catch {
    return undefined;
  }
};

/** Where a body does not fit the release; undefined when it does. */
const checks = () => {
  const Ajv = require('ajv/dist/2020').default;
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  const { verbs, sections } = JSON.parse(readFileSync(join(__dirname, release, 'contracts.json'), 'utf8'));
  const compiled = new Map();
  const misfit = (key, schema, data) => {
    if (!compiled.has(key)) compiled.set(key, ajv.compile(schema));
    const validate = compiled.get(key);
    return validate(data) ? undefined : ajv.errorsText(validate.errors);
  };
  return {
    args: (name, args) =>
      verbs[name] ? misfit(`args ${name}`, verbs[name].args, args) : `the verb "${name}" is not of ${release}`,
    result: (name, result) => verbs[name] && misfit(`result ${name}`, verbs[name].result, result),
    section: (name, data) => sections[name] && misfit(`section ${name}`, sections[name].schema, data),
  };
};
const check = release === undefined ? undefined : checks();
const tell = (what, misfit) => appendFileSync(report, `${JSON.stringify({ what, ...(misfit && { misfit }) })}\n`);

const seen = (method, path, request, status, response) => {
  const verb = /^\/verbs\/([^/?]+)$/.exec(path)?.[1];
  const name = verb && decodeURIComponent(verb);
  if (record) appendFileSync(record, `${JSON.stringify({ method, path, request, status, response })}\n`);
  if (!check) return;
  if (name && method === 'POST' && status === 200) tell(`result ${name}`, check.result(name, response?.result));
  if (path === '/node/heartbeat' && request)
    for (const [section, data] of Object.entries(request.sections ?? {}))
      tell(`section ${section}`, check.section(section, data));
};

const createServer = https.createServer;
https.createServer = (options, listener) =>
  createServer.call(https, options, async (req, res) => {
    const path = req.url ?? '';
    if (!path.startsWith('/verbs/') && !/^\/node\/(enroll|renew|heartbeat|tasks|events)$/.test(path))
      return listener(req, res);
    const taken = [];
    const push = req.push;
    req.push = (chunk, encoding) => {
      if (chunk) taken.push(Buffer.from(chunk));
      return push.call(req, chunk, encoding);
    };
    const end = res.end;
    res.end = (data, ...rest) => {
      const request = parse(Buffer.concat(taken));
      const verb = /^\/verbs\/([^/?]+)$/.exec(path)?.[1];
      if (check && verb && req.method === 'POST' && request) {
        const name = decodeURIComponent(verb);
        tell(`args ${name}`, check.args(name, request.args));
      }
      seen(req.method, path, request, res.statusCode, data === undefined ? undefined : parse(Buffer.from(data)));
      return end.call(res, data, ...rest);
    };
    return listener(req, res);
  });
