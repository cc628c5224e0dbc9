import type { OpenApiDocument } from './openapi';

interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  additionalProperties?: boolean | Schema;
}
interface Media {
  schema?: Schema;
}
interface Operation {
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema?: Schema }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { description: string; content?: Record<string, Media> }>;
}

const escape = (text: unknown): string => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
const anchor = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '-');

class Page {
  constructor(private readonly document: OpenApiDocument) {}

  private resolve(schema: Schema): Schema {
    if (!schema.$ref) return schema;
    const name = schema.$ref.split('/').at(-1) ?? '';
    return ((this.document.components?.schemas?.[name] as Schema | undefined) ?? {}) as Schema;
  }

  private typeName(schema: Schema): string {
    const here = this.resolve(schema);
    const variants = here.anyOf ?? here.oneOf;
    if (variants) return variants.map((v) => this.typeName(v)).join(' or ');
    if (here.enum) return here.enum.map((v) => JSON.stringify(v)).join(' | ');
    if (here.const !== undefined) return JSON.stringify(here.const);
    const types = [here.type ?? (here.properties ? 'object' : 'any')].flat();
    const named = types.map((t) => (t === 'array' && here.items ? `${this.typeName(here.items)}[]` : t)).join(' | ');
    return here.format ? `${named} (${here.format})` : named;
  }

  private limits(schema: Schema): string {
    const here = this.resolve(schema);
    const parts = [
      here.minLength !== undefined && `at least ${here.minLength} characters`,
      here.maxLength !== undefined && `at most ${here.maxLength} characters`,
      here.minimum !== undefined && here.minimum > Number.MIN_SAFE_INTEGER && `from ${here.minimum}`,
      here.maximum !== undefined && here.maximum < Number.MAX_SAFE_INTEGER && `to ${here.maximum}`,
      here.pattern && !here.format && `pattern ${here.pattern}`,
      here.default !== undefined && `default ${JSON.stringify(here.default)}`,
    ];
    return [here.description, parts.filter(Boolean).join(', ')].filter(Boolean).map(escape).join('. ');
  }

  private members(schema: Schema, depth: number): string {
    const here = this.resolve(schema);
    const inner = here.items && !here.properties ? this.resolve(here.items) : here;
    const nested = (inner.anyOf ?? inner.oneOf ?? inner.allOf ?? []).map((v) => this.members(v, depth)).join('');
    if (!inner.properties || depth > 6) return nested;
    const rows = Object.entries(inner.properties).map(([name, child]) => {
      const required = inner.required?.includes(name) ? '<span class="required" title="required">required</span>' : '';
      return `<tr><td style="--depth:${depth}"><code>${escape(name)}</code> ${required}</td><td class="type">${escape(this.typeName(child))}</td><td>${this.limits(child)}</td></tr>${this.members(child, depth + 1)}`;
    });
    return rows.join('') + nested;
  }

  private schemaTable(schema: Schema | undefined): string {
    if (!schema) return '';
    const rows = this.members(schema, 0);
    return `<p class="type">${escape(this.typeName(schema))}</p>${rows && `<table><thead><tr><th>Member</th><th>Type</th><th>Notes</th></tr></thead><tbody>${rows}</tbody></table>`}`;
  }

  private operation(method: string, path: string, operation: Operation): string {
    const parameters = (operation.parameters ?? []).map(
      (p) =>
        `<tr><td><code>${escape(p.name)}</code> ${p.required ? '<span class="required">required</span>' : ''}</td><td>${escape(p.in)}</td><td class="type">${escape(this.typeName(p.schema ?? {}))}</td><td>${escape(p.description ?? '')}</td></tr>`,
    );
    const media = (content: Record<string, Media> | undefined): string =>
      Object.entries(content ?? {})
        .map(([type, m]) => `<p><code>${escape(type)}</code></p>${this.schemaTable(m.schema)}`)
        .join('');
    const responses = Object.entries(operation.responses)
      .filter(([status]) => status !== 'default')
      .map(([status, r]) => `<h4>${escape(status)} ${escape(r.description)}</h4>${media(r.content)}`);
    return `<details id="${anchor(`${method}-${path}`)}"><summary><span class="method ${method}">${method.toUpperCase()}</span> <code>${escape(path)}</code> <span class="summary">${escape(operation.summary ?? '')}</span></summary>
<div class="body"><p>${escape(operation.description ?? '').replace(/`([^`]+)`/g, '<code>$1</code>')}</p>
${parameters.length > 0 ? `<h4>Parameters</h4><table><thead><tr><th>Name</th><th>In</th><th>Type</th><th>Notes</th></tr></thead><tbody>${parameters.join('')}</tbody></table>` : ''}
${operation.requestBody ? `<h4>Request body</h4>${media(operation.requestBody.content)}` : ''}
${responses.join('')}</div></details>`;
  }

  html(): string {
    const groups = new Map<string, string[]>();
    for (const [path, item] of Object.entries(this.document.paths ?? {})) {
      for (const [method, operation] of Object.entries(item as Record<string, Operation>)) {
        const tag = operation.tags?.[0] ?? 'other';
        groups.set(tag, [...(groups.get(tag) ?? []), this.operation(method, path, operation)]);
      }
    }
    const tags = [...groups.keys()].sort();
    const problem = this.document.components?.schemas?.['Problem'] as Schema | undefined;
    return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>VC Stack API</title><link rel="stylesheet" href="/api/docs/style.css"></head>
<body><nav aria-label="Groups"><strong>VC Stack API</strong>${tags.map((t) => `<a href="#${anchor(t)}">${escape(t)}</a>`).join('')}<a href="#errors">Errors</a><a href="/api/v1/openapi.json">openapi.json</a></nav>
<main><h1>VC Stack API</h1><p>Version ${escape(this.document.info.version)}. All paths are below <code>/api/v1</code>. Send <code>Authorization: Bearer &lt;token&gt;</code>.</p>
${tags.map((t) => `<section id="${anchor(t)}"><h2>${escape(t)}</h2>${(groups.get(t) ?? []).join('\n')}</section>`).join('\n')}
<section id="errors"><h2>Errors</h2><p>Every refusal is a problem document (RFC 9457, <code>application/problem+json</code>).</p>${this.schemaTable(problem)}</section></main></body></html>`;
  }
}

/**
 * The API page: plain HTML made from the document, so that it needs neither scripts nor anything from elsewhere. Our own,
 * for the kept bundles (Redoc, Scalar: 2 to 5 MB) want inline styles, bring telemetry, and would send a tried request
 * with its token through a proxy of their makers.
 */
export const apiDocsPage = (document: OpenApiDocument): string => new Page(document).html();

export const apiDocsStyle = `:root{--bg:#fff;--panel:#f5f6f8;--text:#1b1f24;--soft:#57606a;--line:#d5d9df;--accent:#0a58ca;--get:#0a6e3c;--post:#0a58ca;--put:#8a5a00;--patch:#8a5a00;--delete:#b42318}
@media (prefers-color-scheme:dark){:root{--bg:#11151a;--panel:#1a2027;--text:#e6e9ed;--soft:#9aa4b0;--line:#2d353f;--accent:#79b0ff;--get:#4cc38a;--post:#79b0ff;--put:#e0b04c;--patch:#e0b04c;--delete:#ff8a80}}
*{box-sizing:border-box}html{scroll-behavior:smooth}body{margin:0;display:grid;grid-template-columns:13rem minmax(0,1fr);background:var(--bg);color:var(--text);font:15px/1.55 system-ui,sans-serif}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1.25rem;border-right:1px solid var(--line);background:var(--panel);display:flex;flex-direction:column;gap:.35rem}
nav strong{margin-bottom:.6rem}a{color:var(--accent);text-decoration:none}a:hover,a:focus-visible{text-decoration:underline}main{padding:1.5rem 2rem 6rem;max-width:64rem}
h1{margin-top:0}h2{margin:2.2rem 0 .6rem;text-transform:capitalize}h4{margin:1.1rem 0 .3rem}code{font:13px/1.4 ui-monospace,monospace}
details{border:1px solid var(--line);border-radius:8px;margin:.5rem 0;background:var(--bg)}summary{cursor:pointer;padding:.55rem .8rem;border-radius:8px}summary:hover{background:var(--panel)}details[open]>summary{border-bottom:1px solid var(--line);border-radius:8px 8px 0 0}
.body{padding:.3rem 1rem 1rem;overflow-x:auto}.method{display:inline-block;min-width:4.6rem;font:600 12px ui-monospace,monospace}.get{color:var(--get)}.post{color:var(--post)}.put{color:var(--put)}.patch{color:var(--patch)}.delete{color:var(--delete)}
.summary{color:var(--soft);margin-left:.6rem}table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line);vertical-align:top;font-size:14px}td:first-child{padding-left:calc(var(--depth,0)*1.2rem);white-space:nowrap}
.type{color:var(--soft);overflow-wrap:anywhere}.required{color:var(--delete);font-size:12px}@media (max-width:720px){body{grid-template-columns:minmax(0,1fr)}nav{position:static;height:auto;border-right:0;border-bottom:1px solid var(--line)}main{padding:1rem}}
`;
