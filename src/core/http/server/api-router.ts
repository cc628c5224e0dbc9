import type { IncomingMessage, ServerResponse } from 'node:http';
import findMyWay, { type HTTPMethod } from 'find-my-way';
import { Problem } from '../../errors/problem';
import type { Asked } from '../routes/asked';
import type { Observed } from './request-observer';

interface Place {
  /** With its parameters, as the routes name it. */
  path: string;
  handler: (asked: Asked) => Promise<void>;
}

interface Found extends Place {
  params: Record<string, string>;
}

/** The server bounds the whole request line, so the router need not bound a parameter. */
const anyLength = Number.MAX_SAFE_INTEGER;

/**
 * Finds the route of a request to the API by path and method. A path is taken as it is written, its fixed words too: one
 * with `%69` for an `i` has no route. Whoever stands before us, and all that is told of a request, read the same bytes.
 */
export class ApiRouter {
  private readonly router = findMyWay({ caseSensitive: true, maxParamLength: anyLength });
  private readonly methods = new Set<string>();

  /** @param prefix what the paths of all routes begin with on the wire */
  constructor(private readonly prefix: string) {}

  /** Throws when there is such a route already. */
  add({ method, path }: { method: string; path: string }, handler: Place['handler']): void {
    this.methods.add(method);
    const place: Place = { path, handler };
    this.router.on(method as HTTPMethod, path, () => undefined, place);
  }

  /**
   * Answers, and notes the route in `observed`. False when no route has this path. A GET answers HEAD too. Throws 405
   * `method_not_allowed`, and what the route's handler does.
   */
  async answer(
    req: IncomingMessage,
    res: ServerResponse,
    observed: Observed,
    { path, search }: { path: string; search: string },
  ): Promise<boolean> {
    const { method = '' } = req;
    const below = path.slice(this.prefix.length);
    const found = this.find(method === 'HEAD' ? 'GET' : method, below);
    if (found) {
      observed.route = found.path;
      await found.handler({ req, res, requestId: observed.requestId, path, search, params: found.params });
      return true;
    }
    const others = [...this.methods].filter((other) => this.find(other, below));
    if (others.length === 0) return false;
    refuse(method, res, others);
    return true;
  }

  /** A parameter is never empty. */
  private find(method: string, path: string): Found | undefined {
    if (!this.methods.has(method)) return undefined;
    // The library would decode fixed words too; it is kept from it, and parameters are decoded here.
    const match = this.router.find(method as HTTPMethod, path.replaceAll('%', '%25'));
    if (!match) return undefined;
    const params: Record<string, string> = {};
    for (const [name, value] of Object.entries(match.params)) {
      if (!value) return undefined;
      params[name] = decodeURIComponent(value);
    }
    return { ...(match.store as Place), params };
  }
}

const refuse = (method: string, res: ServerResponse, methods: readonly string[]): void => {
  const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort();
  const allow = allowed.join(', ');
  res.setHeader('allow', allow);
  if (method !== 'OPTIONS')
    throw new Problem({
      status: 405,
      code: 'method_not_allowed',
      detail: `${method} is not possible here; ${allow} is.`,
      extra: { allow: allowed },
    });
  res.statusCode = 204;
  res.end();
};
