import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Plugin, ResolvedConfig } from 'vite';

/** Most that the console may load before its first page shows. Bytes after gzip. */
const budget = 200_000;

/**
 * Measures what a browser loads before anything lazy: the entry chunk, what it imports statically, and their styles,
 * after gzip. Prints the figure, writes it to `size.json` in the output, and fails the build over the budget.
 */
export function sizeReport(): Plugin {
  let config: ResolvedConfig;
  return {
    name: 'vcs-size-report',
    apply: 'build',
    configResolved(resolved) {
      config = resolved;
    },
    async writeBundle(_options, bundle) {
      const gz = (data: string | Uint8Array) => gzipSync(data, { level: 9 }).length;
      const first = new Set<string>();
      const visit = (name: string) => {
        const item = bundle[name];
        if (item?.type !== 'chunk' || first.has(name)) return;
        first.add(name);
        for (const css of item.viteMetadata?.importedCss ?? []) first.add(css);
        item.imports.forEach(visit);
      };
      for (const item of Object.values(bundle)) if (item.type === 'chunk' && item.isEntry) visit(item.fileName);
      const files = [...first].map((name) => {
        const item = bundle[name];
        return { name, bytes: item === undefined ? 0 : gz(item.type === 'chunk' ? item.code : item.source) };
      });
      const firstLoadBytes = files.reduce((sum, f) => sum + f.bytes, 0);
      await writeFile(
        join(config.root, config.build.outDir, 'size.json'),
        JSON.stringify({ firstLoadBytes, budgetBytes: budget, files }, null, 2),
      );
      config.logger.info(
        `first load: ${(firstLoadBytes / 1000).toFixed(1)} kB gzip of ${budget / 1000} kB (${files.length} files)`,
      );
      if (firstLoadBytes > budget) this.error(`first load of ${firstLoadBytes} bytes is over the budget of ${budget}`);
    },
  };
}
