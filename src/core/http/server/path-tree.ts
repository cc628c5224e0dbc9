/** A segment's place in the tree. */
interface Node<T> {
  fixed: Map<string, Node<T>>;
  parameter: Node<T> | undefined;
  entry: Entry<T> | undefined;
}

interface Entry<T> {
  value: T;
  names: readonly string[];
}

export interface Match<T> {
  value: T;
  /** Decoded. */
  params: Record<string, string>;
}

const node = <T>(): Node<T> => ({ fixed: new Map(), parameter: undefined, entry: undefined });

/**
 * Finds what belongs to a path by its segments, of which a pattern fixes some and names the others (`/images/:ref`): it
 * costs the same with any number of patterns. A parameter is never empty and never spans a slash; upper and lower case
 * and a slash at the end count.
 */
export class PathTree<T> {
  private readonly root = node<T>();

  /** The value of a pattern; `make` where it has none yet. Throws when its parameters have had other names. */
  at(pattern: string, make: () => T): T {
    const names: string[] = [];
    let here = this.root;
    for (const segment of pattern.split('/').slice(1)) {
      if (segment.startsWith(':')) {
        names.push(segment.slice(1));
        here = here.parameter ??= node();
        continue;
      }
      const next = here.fixed.get(segment) ?? node<T>();
      here.fixed.set(segment, next);
      here = next;
    }
    here.entry ??= { value: make(), names };
    if (here.entry.names.join() !== names.join())
      throw new Error(`"${pattern}" has the parameters ${here.entry.names.join(', ')} elsewhere`);
    return here.entry.value;
  }

  /** All that fit a path that begins with a slash, fixed segments before parameters. Its escapes must be valid. */
  matches(path: string): Match<T>[] {
    const found: Match<T>[] = [];
    const segments = path.split('/');
    const visit = ({ fixed, parameter, entry }: Node<T>, at: number, raw: readonly string[]): void => {
      const segment = segments[at];
      if (segment === undefined) {
        if (entry) found.push({ value: entry.value, params: decoded(entry.names, raw) });
        return;
      }
      const next = fixed.get(segment);
      if (next) visit(next, at + 1, raw);
      if (parameter && segment !== '') visit(parameter, at + 1, [...raw, segment]);
    };
    visit(this.root, 1, []);
    return found;
  }
}

const decoded = (names: readonly string[], raw: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(raw[i] ?? '')]));
