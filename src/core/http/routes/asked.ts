import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request of the API whose route is found. */
export interface Asked {
  req: IncomingMessage;
  res: ServerResponse;
  requestId: string;
  /** As it was sent, without the query. */
  path: string;
  /** What follows the question mark. */
  search: string;
  /** Of the path, decoded. */
  params: Record<string, string>;
}
