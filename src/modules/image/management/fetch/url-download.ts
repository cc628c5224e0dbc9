import { createHash } from 'node:crypto';
import { lookup, type LookupAddress, type LookupOptions } from 'node:dns';
import type { FileHandle } from 'node:fs/promises';
import { Agent, errors, request } from 'undici';
import { SparseWriter } from '../../../../core/host/files/sparse-writer';
import { isPublicAddress, urlFault } from './address-rules';
import { attended } from './attended';
import { FetchFailed } from './fetch-failed';
import type { FetchJob, FetchReport } from './fetch-messages';
import { LeastPace } from './least-pace';

const maxRedirects = 5;
const redirects = new Set([301, 302, 303, 307, 308]);
const forbiddenAddress = 'VC_FORBIDDEN_ADDRESS';
const progressMs = 500;

type LookupCallback = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;
type Response = Awaited<ReturnType<typeof request>>;

/**
 * Downloads a URL for a user without lending it management's place in the network: the address is judged after the name
 * is resolved and is the one connected to, so a name that changes its answer gains nothing; each redirect is judged
 * anew. Runs in a child process of its own.
 */
export class UrlDownload {
  private readonly agent: Agent;

  constructor(
    private readonly job: FetchJob,
    private readonly report: (report: FetchReport) => Promise<void>,
    private readonly lookupName: typeof lookup = lookup,
  ) {
    const connect = {
      timeout: 10_000,
      lookup: (name: string, options: LookupOptions, callback: LookupCallback) => this.resolve(name, options, callback),
    };
    this.agent = new Agent({
      connect,
      headersTimeout: job.silenceMs,
      bodyTimeout: job.silenceMs,
      connections: 1,
      allowH2: false,
    });
  }

  /** Writes the body to the file. Reports how it goes; never rejects for what the server did. */
  async into(file: FileHandle): Promise<void> {
    try {
      await this.download(file);
    } catch (error) {
      const { code, message, retry } = classify(error);
      await this.report({ kind: 'failed', code, message: message.slice(0, 1000), retry });
    }
  }

  private async download(file: FileHandle): Promise<void> {
    const { job } = this;
    const response = await this.answer();
    const announced = lengthOf(response.headers);
    const type = response.headers['content-type'];
    await this.report({ kind: 'begun', announced, contentType: typeof type === 'string' ? type.slice(0, 200) : null });
    if (announced !== null && announced > job.maxBytes) throw tooLarge(job.maxBytes);
    const sha256 = createHash('sha256');
    const sha512 = job.sha512 ? createHash('sha512') : null;
    const writer = new SparseWriter(file);
    const pace = new LeastPace(job.minBytesPerSecond, job.paceWindowMs);
    let told = performance.now();
    for await (const chunk of attended(response.body as AsyncIterable<Buffer>, new AbortController().signal, pace, () =>
      tooSlow(job),
    )) {
      if (writer.bytes + chunk.length > job.maxBytes) throw tooLarge(job.maxBytes);
      sha256.update(chunk);
      sha512?.update(chunk);
      await writer.write(chunk);
      if (performance.now() - told < progressMs) continue;
      told = performance.now();
      await this.report({ kind: 'progress', bytes: writer.bytes });
    }
    if (announced !== null && writer.bytes < announced)
      throw new FetchFailed('image_truncated', `Only ${writer.bytes} of ${announced} bytes arrived.`, true);
    await writer.finish();
    await this.report({
      kind: 'done',
      bytes: writer.bytes,
      sha256: sha256.digest('hex'),
      sha512: sha512?.digest('hex') ?? null,
    });
  }

  /** The answer that has the bytes, after redirects. */
  private async answer(): Promise<Response> {
    let { url } = this.job;
    for (let hop = 0; hop <= maxRedirects; hop++) {
      const fault = urlFault(url, this.job.allowPrivate);
      if (fault) throw new FetchFailed(fault.code, fault.message, false);
      const response = await this.get(url);
      const { location } = response.headers;
      const { statusCode } = response;
      if (statusCode === 200) {
        const encoding = response.headers['content-encoding'] ?? 'identity';
        if (encoding !== 'identity')
          throw new FetchFailed(
            'url_failed',
            'The server of the image sends it in a content encoding, which was not asked for.',
            false,
          );
        return response;
      }
      // Whatever stands in such an answer is not read: the connection ends with it.
      response.body.on('error', () => undefined).destroy();
      if (!redirects.has(statusCode) || typeof location !== 'string') {
        throw new FetchFailed(
          'url_failed',
          `The server of the image answered ${statusCode}.`,
          statusCode >= 500 || statusCode === 429,
        );
      }
      url = URL.canParse(location, url) ? new URL(location, url).href : location;
    }
    throw new FetchFailed('url_failed', `The address redirects more than ${maxRedirects} times.`, false);
  }

  /** An answer must begin within the window, however many interim ones come before it. */
  private async get(url: string): Promise<Response> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(tooSlow(this.job)), this.job.paceWindowMs);
    try {
      return await request(url, {
        dispatcher: this.agent,
        signal: late.signal,
        headers: { 'accept-encoding': 'identity', 'user-agent': 'vc-stack' },
      });
    } finally {
      clearTimeout(timer);
    }
  }

  private resolve(name: string, options: LookupOptions, callback: LookupCallback): void {
    this.lookupName(name, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) return callback(error ?? new Error(`no address for ${name}`), []);
      if (!this.job.allowPrivate && !addresses.every((a) => isPublicAddress(a.address))) {
        return callback(
          Object.assign(new Error('The server does not fetch from loopback, link-local or private addresses.'), {
            code: forbiddenAddress,
          }),
          [],
        );
      }
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  }
}

const tooLarge = (maxBytes: number): FetchFailed =>
  new FetchFailed('image_too_large', `The image is larger than the ${maxBytes} bytes that are allowed.`, false);
const tooSlow = ({ minBytesPerSecond, paceWindowMs }: FetchJob): FetchFailed =>
  new FetchFailed(
    'url_too_slow',
    `The server of the image is too slow: less than ${minBytesPerSecond} bytes per second over ${Math.round(paceWindowMs / 1000)} s.`,
    false,
  );

const lengthOf = (headers: Response['headers']): number | null => {
  const text = headers['content-length'];
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : null;
};

const classify = (error: unknown): FetchFailed => {
  if (error instanceof FetchFailed) return error;
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (code === forbiddenAddress) return new FetchFailed('url_not_allowed', message, false);
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new FetchFailed('no_space', 'The server has no room for the image.', false);
  if (code === 'EFBIG') return new FetchFailed('image_too_large', 'The image is larger than is allowed.', false);
  // What is no proper answer today is none in a minute; a connection that broke may hold then.
  const malformed =
    /^(HPE_|UND_ERR_(HEADERS_OVERFLOW|RES_CONTENT_LENGTH_MISMATCH|INVALID_ARG))/.test(code) ||
    error instanceof errors.HTTPParserError;
  return new FetchFailed(
    'url_failed',
    `The image could not be fetched from its server (${code === '' ? message : code}).`,
    !malformed,
  );
};
