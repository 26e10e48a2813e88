import { join } from 'node:path';

const SOURCE = join(import.meta.dir, '..', '..', 'client', 'src', 'index.ts');

/** The client as one file of JavaScript that every runtime can load. */
export async function bundledClient({ minify = false, entry = SOURCE } = {}): Promise<string> {
  const { outputs } = await Bun.build({ entrypoints: [entry], target: 'browser', format: 'esm', minify });
  return outputs[0]!.text();
}
