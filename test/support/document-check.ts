import Ajv2020 from 'ajv/dist/2020';

interface Operation {
  responses: Record<string, { content?: Record<string, unknown> }>;
}
export interface ApiDocument {
  paths: Record<string, Record<string, unknown>>;
}

const pointer = (...parts: string[]): string =>
  parts.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');

/**
 * Compares answers with the OpenAPI document: each has its status there, named and not by default, with its media type,
 * and a body of that schema.
 */
export class DocumentCheck {
  readonly faults = new Set<string>();
  /** Answers that were compared. */
  compared = 0;
  private readonly ajv = new Ajv2020({ strict: false, validateFormats: false });
  private readonly paths: { pattern: RegExp; path: string }[];

  constructor(private readonly document: ApiDocument) {
    this.ajv.addSchema(document, 'document');
    // A fixed segment is meant before a parameter.
    const keys = Object.keys(document.paths).sort(
      (a, b) => (a.match(/\{/g)?.length ?? 0) - (b.match(/\{/g)?.length ?? 0),
    );
    this.paths = keys.map((path) => ({
      path,
      pattern: new RegExp(`^/api/v1${path.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`),
    }));
  }

  /** @param target path with its query; what is no operation of the document is left alone */
  add(method: string, target: string, status: number, mediaType: string, text: string): void {
    const pathname = target.split('?')[0] ?? '';
    const path = this.paths.find(
      ({ path: known, pattern }) =>
        pattern.test(pathname) && this.document.paths[known]?.[method.toLowerCase()] !== undefined,
    )?.path;
    if (path === undefined) return;
    this.compared += 1;
    const { responses } = this.document.paths[path]?.[method.toLowerCase()] as Operation;
    const found = responses[String(status)];
    const name = `${method} ${path} ${status}`;
    if (!found) return void this.faults.add(`${name}: the document does not name the status`);
    const media = mediaType.split(';')[0] ?? '';
    if (!found.content) return void (text === '' || this.faults.add(`${name}: has a body`));
    if (!found.content[media]) return void this.faults.add(`${name}: is ${media}`);
    if (!media.endsWith('json')) return;
    const validate = this.ajv.getSchema(
      `document#/${pointer('paths', path, method.toLowerCase(), 'responses', String(status), 'content', media, 'schema')}`,
    );
    if (!validate) return void this.faults.add(`${name}: there is no schema`);
    if (!validate(JSON.parse(text))) this.faults.add(`${name}: ${this.ajv.errorsText(validate.errors?.slice(0, 3))}`);
  }
}
