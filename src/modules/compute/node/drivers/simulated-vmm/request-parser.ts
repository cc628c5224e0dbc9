export interface WireRequest {
  method: string;
  target: string;
  /** Null when the request had none (also with a length of 0). */
  body: string | null;
}

export type ParsedItem =
  | { kind: 'request'; request: WireRequest }
  | { kind: 'continue' }
  | { kind: 'error'; text: string };

/** Bytes of a request line or header line. */
const longestLine = 1024;

export interface ParserOptions {
  /** Largest body, in bytes. */
  bodyLimit: number;
  /** Methods that the HTTP library knows. */
  methods: readonly string[];
}

interface Head {
  method: string;
  target: string;
  length: number;
  expects: boolean;
}

/** Cuts a byte stream into requests. After an error the bytes at hand are dropped, as there. */
export class RequestParser {
  private buffer = Buffer.alloc(0);
  private head: Partial<Head> & { lines: number } = { lines: 0 };
  private awaitsBody = false;

  constructor(private readonly options: ParserOptions) {}

  push(chunk: Buffer): ParsedItem[] {
    this.buffer = Buffer.concat([this.buffer, chunk]);
    const items: ParsedItem[] = [];
    for (;;) {
      const item = this.next();
      if (item === null) return items;
      if (item !== 'more') items.push(item);
      if (item !== 'more' && item.kind === 'error') {
        this.buffer = Buffer.alloc(0);
        this.reset();
      }
    }
  }

  private next(): ParsedItem | 'more' | null {
    if (this.awaitsBody) return this.body();
    const end = this.buffer.indexOf('\r\n');
    if (end > longestLine || (end < 0 && this.buffer.length > longestLine))
      return { kind: 'error', text: 'Invalid request: the line is too long.' };
    if (end < 0) return null;
    const line = this.buffer.subarray(0, end).toString('latin1');
    this.buffer = this.buffer.subarray(end + 2);
    if (this.head.lines++ === 0) return this.requestLine(line);
    if (line === '') return this.headEnd();
    return this.header(line);
  }

  private requestLine(line: string): ParsedItem | 'more' {
    const [method = '', target = '', version] = line.split(' ');
    if (version === undefined) return { kind: 'error', text: 'Invalid request.' };
    if (!this.options.methods.includes(method))
      return { kind: 'error', text: 'Invalid HTTP Method: Unsupported HTTP method.' };
    if (target === '') return { kind: 'error', text: 'Invalid URI: Empty URI not allowed.' };
    if (version !== 'HTTP/1.1' && version !== 'HTTP/1.0')
      return { kind: 'error', text: 'Invalid HTTP Version: Unsupported HTTP version.' };
    this.head = { ...this.head, method, target };
    return 'more';
  }

  private header(line: string): ParsedItem | 'more' {
    const colon = line.indexOf(':');
    if (colon < 0) return { kind: 'error', text: `Invalid header: ${line}.` };
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === 'content-length') {
      if (!/^\d{1,12}$/.test(value)) return { kind: 'error', text: 'Invalid value. Key: Content-Length.' };
      this.head = { ...this.head, length: Number(value) };
    }
    if (name === 'expect' && value === '100-continue') this.head = { ...this.head, expects: true };
    return 'more';
  }

  /** The empty line: without a length there is no body, and nothing to continue with. */
  private headEnd(): ParsedItem | 'more' {
    const { length = 0, expects = false } = this.head;
    const { bodyLimit } = this.options;
    if (length > bodyLimit)
      return {
        kind: 'error',
        text: `Request payload with size ${length} is larger than the limit of ${bodyLimit} allowed by server.`,
      };
    this.awaitsBody = true;
    return expects && length > 0 ? { kind: 'continue' } : 'more';
  }

  private body(): ParsedItem | null {
    const { method = '', target = '', length = 0 } = this.head;
    if (this.buffer.length < length) return null;
    const body = length === 0 ? null : this.buffer.subarray(0, length).toString('utf8');
    this.buffer = this.buffer.subarray(length);
    this.reset();
    return { kind: 'request', request: { method, target, body } };
  }

  private reset(): void {
    this.head = { lines: 0 };
    this.awaitsBody = false;
  }
}
