import { defineConfig } from 'vite';

// The target is what has light-dark() in CSS: browsers since May 2024.
const target = ['chrome123', 'firefox120', 'safari17.5'];

export default defineConfig({
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none' },
  build: {
    target,
    cssTarget: target,
    outDir: 'dist',
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    // Nothing as a data: address, so that the policy need not allow it for scripts and fonts.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rollupOptions: { output: { manualChunks: undefined } },
  },
});
