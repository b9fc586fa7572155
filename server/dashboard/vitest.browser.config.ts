import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// LookFirst runs look.test.ts before the other files. All files share one exchange, and the others
// decide the returns and remove the entries that look.test.ts expects on its pages.
class LookFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLook = (file: TestSpecification): boolean => file.moduleId.endsWith('/look.test.ts');
    const sorted = await super.sort(files);
    return [...sorted.filter(isLook), ...sorted.filter((file) => !isLook(file))];
  }
}

export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    globalSetup: 'test/browser/setup.ts',
    fileParallelism: false,
    sequence: { sequencer: LookFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
