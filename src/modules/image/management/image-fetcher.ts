import { lookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { injectable } from 'inversify';
import { Agent, request } from 'undici';
import { Config } from '../../../core/config/config';
import type { ImageConfig } from '../contract/image.config';
import { FetchFailed } from './fetch-failed';
import { isPublicAddress, urlFault } from './address-rules';

const maxRedirects = 5;
const redirects = new Set([301, 302, 303, 307, 308]);
const silenceMs = 60_000;
const forbiddenAddress = 'VC_FORBIDDEN_ADDRESS';

type LookupCallback = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

/**
 * Fetches image URLs for users without lending them management's place in the network: the address is judged after the name is
 * resolved and is the one connected to, so a name that changes its answer gains nothing; each redirect is judged anew.
 */
@injectable()
export class ImageFetcher {
  private readonly allowPrivate: boolean;
  private readonly agent: Agent;

  constructor(config: Config) {
    this.allowPrivate = config.section<ImageConfig>('image').allowPrivateUrls;
    this.agent = new Agent({ connect: { timeout: 10_000, lookup: (name: string, options: LookupOptions, callback: LookupCallback) => this.resolve(name, options, callback) }, headersTimeout: silenceMs, bodyTimeout: silenceMs, connections: 8 });
  }

  /** The body as a stream and its announced length. Throws `FetchFailed`. */
  async fetch(text: string, signal: AbortSignal): Promise<{ stream: AsyncIterable<Buffer>; announced: number | null }> {
    let url = text;
    for (let hop = 0; hop <= maxRedirects; hop++) {
      const fault = urlFault(url, this.allowPrivate);
      if (fault) throw new FetchFailed(fault.code as FetchFailed['code'], fault.message, false);
      const response = await this.get(url, signal);
      const { location } = response.headers;
      if (redirects.has(response.statusCode) && typeof location === 'string') {
        await response.body.dump({ limit: 65_536 }).catch(() => undefined);
        url = URL.canParse(location, url) ? new URL(location, url).href : location;
        continue;
      }
      if (response.statusCode === 200) return { stream: response.body as AsyncIterable<Buffer>, announced: lengthOf(response.headers) };
      await response.body.dump({ limit: 65_536 }).catch(() => undefined);
      throw new FetchFailed('url_failed', `The server of the image answered ${response.statusCode}.`, response.statusCode >= 500 || response.statusCode === 429);
    }
    throw new FetchFailed('url_failed', `The address redirects more than ${maxRedirects} times.`, false);
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }

  private async get(url: string, signal: AbortSignal): ReturnType<typeof request> {
    try {
      return await request(url, { dispatcher: this.agent, signal, headers: { 'accept-encoding': 'identity', 'user-agent': 'vc-stack' } });
    } catch (error) {
      if (signal.aborted) throw error;
      const { code } = error as NodeJS.ErrnoException;
      if (code === forbiddenAddress) throw new FetchFailed('url_not_allowed', (error as Error).message, false, { cause: error });
      throw new FetchFailed('url_failed', `The server of the image cannot be reached (${code ?? (error as Error).message}).`, true, { cause: error });
    }
  }

  private resolve(name: string, options: LookupOptions, callback: LookupCallback): void {
    lookup(name, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) return callback(error ?? new Error(`no address for ${name}`), []);
      if (!this.allowPrivate && !addresses.every((a) => isPublicAddress(a.address))) {
        return callback(Object.assign(new Error('The server does not fetch from loopback, link-local or private addresses.'), { code: forbiddenAddress }), []);
      }
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  }
}

const lengthOf = (headers: Record<string, string | string[] | undefined>): number | null => {
  const text = headers['content-length'];
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : null;
};
