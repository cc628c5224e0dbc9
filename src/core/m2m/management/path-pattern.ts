/** Matches paths like `/images/:id/content` (Express syntax, whole segments only). */
export class PathPattern {
  private readonly segments: string[];

  constructor(readonly pattern: string) {
    this.segments = pattern.split('/');
  }

  /**
   * The decoded parameters, or null. A parameter is never empty and never has a slash, a NUL, or the form of a relative
   * path.
   */
  match(path: string): Record<string, string> | null {
    const parts = path.split('/');
    if (parts.length !== this.segments.length) return null;
    const params: Record<string, string> = {};
    for (const [index, segment] of this.segments.entries()) {
      const part = parts[index] ?? '';
      if (!segment.startsWith(':')) {
        if (segment !== part) return null;
        continue;
      }
      const value = decode(part);
      if (value === null) return null;
      params[segment.slice(1)] = value;
    }
    return params;
  }
}

const decode = (part: string): string | null => {
  try {
    const value = decodeURIComponent(part);
    return value === '' || value === '.' || value === '..' || /[/\\\u0000]/.test(value) ? null : value;
  } catch {
    return null;
  }
};
