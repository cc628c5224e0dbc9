import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../errors/problem';
import type { Asked } from '../routes/asked';
import type { Observed } from './request-observer';
import { PathTree } from './path-tree';

type Handler = (asked: Asked) => Promise<void>;
interface Place {
  /** With its parameters, as the routes name it. */
  path: string;
  handlers: Map<string, Handler>;
}

/** Finds the route of a request to the API by path and method. */
export class ApiRouter {
  private readonly tree = new PathTree<Place>();

  /** @param prefix what the paths of all routes begin with on the wire */
  constructor(private readonly prefix: string) {}

  add({ method, path }: { method: string; path: string }, handler: Handler): void {
    this.tree.at(path, () => ({ path, handlers: new Map() })).handlers.set(method, handler);
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
    const found = this.tree.matches(path.slice(this.prefix.length));
    for (const { value, params } of found) {
      const handler = value.handlers.get(method === 'HEAD' ? 'GET' : method);
      if (!handler) continue;
      observed.route = value.path;
      await handler({ req, res, requestId: observed.requestId, path, search, params });
      return true;
    }
    const [first] = found;
    if (!first) return false;
    refuse(method, res, [...first.value.handlers.keys()]);
    return true;
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
