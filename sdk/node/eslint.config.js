import js from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/', '.build/', 'src/generated/'] },
  js.configs.recommended,
  {
    files: ['**/*.ts', '**/*.mts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { project: ['./tsconfig.json', './tsconfig.test.json'], tsconfigRootDir: import.meta.dirname } },
    rules: {
      // The two disagree: the compiler asks for brackets on what an index signature gives.
      '@typescript-eslint/dot-notation': 'off',
      // Where callers' values are judged, the types are what is not believed.
      '@typescript-eslint/no-unnecessary-condition': 'off',
    },
  },
  {
    files: ['test/**'],
    rules: {
      // node:test's own promises.
      '@typescript-eslint/no-floating-promises': ['error', { allowForKnownSafeCalls: [{ from: 'package', package: 'node:test', name: ['test', 'describe', 'it', 'suite'] }] }],
    },
  },
  { files: ['*.js'], languageOptions: { globals: { process: 'readonly', URL: 'readonly' } } },
);
