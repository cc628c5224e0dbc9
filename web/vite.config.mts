import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { precompress } from './plugins/precompress.mts';
import { sizeReport } from './plugins/size-report.mts';

/** The running management that `npm run dev` works with: where bin/quickstart has it, unless VC_STACK_URL says another. */
const backend = process.env.VC_STACK_URL ?? 'https://127.0.0.1:8443';
/**
 * Its certificate is of its own authority, which only this proxy takes without a look. Consoles and live events are open
 * to pages of that server's own origin alone: the proxy speaks as one.
 */
const proxied = {
  target: backend,
  secure: false,
  ws: true,
  changeOrigin: true,
  headers: { origin: new URL(backend).origin },
};

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react(), tailwindcss(), sizeReport(), precompress()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    // Scripts and styles are files of their own, so that a strict Content-Security-Policy can hold.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // What is not shown first comes in few chunks: pages are small, and each request costs a round trip.
        codeSplitting: {
          groups: [
            { name: 'terminal', test: /node_modules\/@xterm\// },
            { name: 'screen', test: /node_modules\/@novnc\// },
            { name: 'live', test: /node_modules\/(socket\.io|engine\.io|@socket\.io)/ },
            { name: 'shared', test: /rolldown\/runtime/, priority: 1 },
            { name: 'shared', minShareCount: 2 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': proxied, '/health': proxied } },
});
