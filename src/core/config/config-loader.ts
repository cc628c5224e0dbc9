import { readFile } from 'node:fs/promises';
import { parse, YAMLParseError } from 'yaml';
import { z } from 'zod';
import { issueWords } from '../errors/issue-words';
import { Config } from './config';
import { ConfigError } from './config-error';
import { configSchema, shapeOf, unwrap, upperSnake, type ModuleSchemas } from './schema-tree';
import { suggest } from './suggest';

export interface ConfigSources {
  /** YAML files; a later one wins over an earlier one, key by key. */
  files?: readonly string[];
  /** Usually `process.env`. Wins over files. */
  env?: Readonly<Record<string, string | undefined>>;
  modules?: ModuleSchemas;
}

type Tree = Record<string, unknown>;

const prefix = 'VC_STACK_';
/** Variables with our prefix that are no configuration keys: the list of files, and what tests set for themselves. */
const reserved = (name: string): boolean => name === 'VC_STACK_CONFIG' || name.startsWith('VC_STACK_TEST_');

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A secret's file: its content without trailing line breaks. */
const readSecret = async (file: string, where: string, problems: string[]): Promise<string | undefined> => {
  try {
    return (await readFile(file, 'utf8')).replace(/[\r\n]+$/, '');
  } catch (error) {
    problems.push(`${where}: cannot read the file ${file} (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
    return undefined;
  }
};

/** Refuses unknown keys, reads `<secret>File` keys, drops empty sections. Returns a clean copy. */
const checkKeys = async (
  value: unknown,
  schema: z.ZodType,
  path: string,
  source: string,
  problems: string[],
): Promise<unknown> => {
  const shape = shapeOf(schema);
  if (!shape) {
    if (isTree(value) && Object.hasOwn(value, '__proto__'))
      problems.push(`${path}.__proto__: unknown key (in ${source})`);
    return value;
  }
  if (value === null) return {};
  if (!isTree(value)) return value;
  const clean: Tree = {};
  for (const [key, child] of Object.entries(value)) {
    const childPath = path ? `${path}.${key}` : key;
    const known = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (known) {
      clean[key] = await checkKeys(child, known, childPath, source, problems);
      continue;
    }
    const base = key.endsWith('File') ? key.slice(0, -4) : '';
    const secret = base && Object.hasOwn(shape, base) ? shape[base] : undefined;
    if (secret && unwrap(secret).secret && typeof child === 'string') {
      const content = await readSecret(child, childPath, problems);
      if (content !== undefined) clean[base] = content;
      continue;
    }
    const meant = suggest(key, Object.keys(shape));
    problems.push(`${childPath}: unknown key${meant ? `; did you mean "${meant}"?` : ''} (in ${source})`);
  }
  return clean;
};

const merge = (under: unknown, over: unknown): unknown => {
  if (!isTree(under) || !isTree(over)) return over;
  const merged: Tree = { ...under };
  for (const [key, value] of Object.entries(over))
    merged[key] = Object.hasOwn(merged, key) ? merge(merged[key], value) : value;
  return merged;
};

/** Text of a variable as the type that its key wants; what does not fit stays text, and validation names it. */
const fromText = (text: string, schema: z.ZodType): unknown => {
  const { inner } = unwrap(schema);
  if (inner instanceof z.ZodNumber) return /^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text;
  if (inner instanceof z.ZodBoolean) return text === 'true' ? true : text === 'false' ? false : text;
  if (inner instanceof z.ZodArray || inner instanceof z.ZodObject || inner instanceof z.ZodRecord) {
    try {
      return parse(text) as unknown;
    } catch {
      return text;
    }
  }
  return text;
};

const setAt = (tree: Tree, path: readonly string[], value: unknown): void => {
  const [head, ...rest] = path;
  if (head === undefined) return;
  if (rest.length === 0) {
    tree[head] = value;
    return;
  }
  const next = tree[head];
  const child: Tree = isTree(next) ? next : {};
  tree[head] = child;
  setAt(child, rest, value);
};

/** One variable, from its name to the key it means. */
const applyVariable = async (
  tree: Tree,
  name: string,
  text: string,
  root: z.ZodType,
  problems: string[],
): Promise<void> => {
  const segments = name.slice(prefix.length).split('__');
  const path: string[] = [];
  let schema = root;
  for (const [i, segment] of segments.entries()) {
    const shape = shapeOf(schema) ?? {};
    const keys = Object.keys(shape);
    const find = (wanted: string): string | undefined => keys.find((k) => upperSnake(k) === wanted);
    const exact = find(segment);
    const fromFile =
      exact === undefined && i === segments.length - 1 && segment.endsWith('_FILE')
        ? find(segment.slice(0, -'_FILE'.length))
        : undefined;
    const key = exact ?? fromFile;
    const child = key === undefined ? undefined : shape[key];
    if (key === undefined || child === undefined) {
      const meant = suggest(segment, keys.map(upperSnake));
      const corrected = meant && prefix + [...segments.slice(0, i), meant, ...segments.slice(i + 1)].join('__');
      problems.push(`${name}: unknown variable${corrected ? `; did you mean ${corrected}?` : ''}`);
      return;
    }
    path.push(key);
    schema = child;
    if (fromFile !== undefined) {
      const content = await readSecret(text, name, problems);
      if (content !== undefined) setAt(tree, path, fromText(content, schema));
      return;
    }
  }
  setAt(tree, path, await checkKeys(fromText(text, schema), schema, path.join('.'), name, problems));
};

const deepFreeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
};

const readYaml = async (file: string, problems: string[]): Promise<unknown> => {
  try {
    return (parse(await readFile(file, 'utf8'), { maxAliasCount: 20 }) as unknown) ?? {};
  } catch (error) {
    const reason =
      error instanceof YAMLParseError ? error.message : ((error as NodeJS.ErrnoException).code ?? 'not YAML');
    problems.push(`${file}: ${reason}`);
    return {};
  }
};

/**
 * Defaults, then files in order, then the environment: `VC_STACK_<SECTION>__<KEY>`, each name in upper snake case, e.g.
 * `VC_STACK_MANAGEMENT__NODE_PORT` or `VC_STACK_MODULES__NETWORK__UPLINK`; with `_FILE` at the end the value is the
 * content of that file. In YAML a secret key has the same by `<key>File`. Throws `ConfigError` that names every
 * problem.
 */
export const loadConfig = async (sources: ConfigSources = {}): Promise<Config> => {
  const schema = configSchema(sources.modules ?? {});
  const problems: string[] = [];
  let tree: unknown = {};
  for (const file of sources.files ?? []) {
    const raw = await readYaml(file, problems);
    if (isTree(raw)) tree = merge(tree, await checkKeys(raw, schema, '', file, problems));
    else problems.push(`${file}: must be a mapping of sections`);
  }
  const fromEnv: Tree = {};
  // Sorted, so that a whole section as one variable comes before its single keys.
  for (const [name, text] of Object.entries(sources.env ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (name.startsWith(prefix) && !reserved(name) && text !== undefined)
      await applyVariable(fromEnv, name, text, schema, problems);
  }
  tree = merge(tree, fromEnv);
  const parsed = schema.safeParse(tree, { error: issueWords });
  if (!parsed.success) {
    for (const issue of parsed.error.issues)
      problems.push(`${issue.path.map(String).join('.') || 'configuration'}: ${issue.message}`);
  }
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  const { modules, ...core } = parsed.data;
  return new Config(deepFreeze(core), deepFreeze(modules));
};
