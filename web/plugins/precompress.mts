import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Plugin, ResolvedConfig } from 'vite';

const compressible = /\.(js|css|html|svg|json|txt)$/;
/** Below this a compressed copy saves less than its headers cost. Bytes. */
const smallest = 1024;

/** Writes `.gz` and `.br` beside every text asset of a build, so that the server compresses nothing at run time. */
export function precompress(): Plugin {
  let config: ResolvedConfig;
  return {
    name: 'vcs-precompress',
    apply: 'build',
    configResolved(resolved) {
      config = resolved;
    },
    // Only of a build that was written: where it failed, what it says must not be hidden by a folder that is not there.
    writeBundle: {
      order: 'post',
      sequential: true,
      async handler() {
        const out = join(config.root, config.build.outDir);
        for (const entry of await readdir(out, { recursive: true, withFileTypes: true })) {
          if (!entry.isFile() || !compressible.test(entry.name)) continue;
          const path = join(entry.parentPath, entry.name);
          const bytes = await readFile(path);
          if (bytes.length < smallest) continue;
          await writeFile(`${path}.gz`, gzipSync(bytes, { level: 9 }));
          await writeFile(
            `${path}.br`,
            brotliCompressSync(bytes, {
              params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
            }),
          );
        }
      },
    },
  };
}
