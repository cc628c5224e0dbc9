import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { fakeApi } from './dev/fake-api.mts';
import { precompress } from './plugins/precompress.mts';
import { sizeReport } from './plugins/size-report.mts';

/** Target of `npm run dev` style work against a running management; overridden by VC_STACK_URL. */
const backend = process.env.VC_STACK_URL ?? 'https://127.0.0.1:8443';

export default defineConfig(({ mode }) => ({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react(), tailwindcss(), sizeReport(), precompress(), ...(mode === 'fake' ? [fakeApi()] : [])],
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
            { name: 'live', test: /node_modules\/(socket\.io|engine\.io|@socket\.io)/ },
            { name: 'shared', test: /rolldown\/runtime/, priority: 1 },
            { name: 'shared', minShareCount: 2 },
          ],
        },
      },
    },
  },
  server: mode === 'fake' ? {} : { proxy: { '/api': { target: backend, secure: false, ws: true } } },
}));
