import { dirname, join, relative } from 'node:path';

/**
 * Imports point one way:  market ← ledger ← {board, feeds, gate} ← api ← service ← cli
 * For each folder of src/, the folders it may import from. Files at the top of src/ are named themselves.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  market: [],
  runtime: ['clock.ts', 'log.ts'],
  http: ['clock.ts', 'runtime'],
  'clock.ts': [],
  'turns.ts': [],
  'lower-priority.ts': [],
  'log.ts': ['clock.ts'],
  'process-name.ts': [],
  'config.ts': ['log.ts', 'gate', 'market'],
  ledger: ['market', 'runtime', 'clock.ts', 'lower-priority.ts', 'turns.ts'],
  board: ['market', 'ledger', 'runtime', 'clock.ts', 'log.ts', 'turns.ts'],
  feeds: ['market', 'ledger', 'clock.ts', 'log.ts', 'lower-priority.ts', 'process-name.ts'],
  gate: ['ledger', 'runtime', 'clock.ts', 'log.ts'],
  api: [
    'http',
    'market',
    'ledger',
    'board',
    'gate',
    'console',
    'runtime',
    'clock.ts',
    'log.ts',
    'lower-priority.ts',
    'process-name.ts',
    'turns.ts',
  ],
  console: [],
  'demo.ts': ['ledger', 'gate', 'config.ts'],
  'public-key.ts': ['ledger', 'gate', 'config.ts'],
  'process-gauges.ts': ['api', 'http', 'runtime'],
  'caches.ts': ['api', 'board', 'gate', 'http', 'runtime'],
  'alarms.ts': ['api', 'gate', 'ledger', 'clock.ts', 'log.ts'],
  'feed-gauges.ts': ['api', 'clock.ts'],
  ops: ['alarms.ts', 'api', 'gate', 'http', 'ledger', 'clock.ts', 'config.ts', 'log.ts', 'process-name.ts'],
  'heartbeat.ts': ['ledger', 'log.ts'],
  'service.ts': [
    'alarms.ts',
    'ops',
    'process-gauges.ts',
    'feed-gauges.ts',
    'heartbeat.ts',
    'process-name.ts',
    'caches.ts',
    'runtime',
    'market',
    'ledger',
    'board',
    'feeds',
    'gate',
    'api',
    'clock.ts',
    'log.ts',
    'config.ts',
    'demo.ts',
    'public-key.ts',
  ],
  cli: [
    'market',
    'ledger',
    'feeds',
    'gate',
    'http',
    'ops',
    'clock.ts',
    'log.ts',
    'config.ts',
    'process-name.ts',
    'runtime',
    'service.ts',
  ],
  'main.ts': ['cli'],
};

const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*|new URL\(\s*)['"](\.{1,2}\/[^'"]+)['"]/g;

/** One line for each import of src/ that goes the wrong way. */
export async function checkImports(root = join(import.meta.dir, '..')): Promise<string[]> {
  const src = join(root, 'src');
  const wrong: string[] = [];
  for await (const file of new Bun.Glob('**/*.{ts,tsx}').scan(src)) {
    if (/\.test\.tsx?$/.test(file)) continue;
    const from = roomOf(file);
    const allowed = MAY_IMPORT[from];
    if (!allowed) {
      wrong.push(`src/${file}: no rule for "${from}"; add it to scripts/imports.ts`);
      continue;
    }
    const text = await Bun.file(join(src, file)).text();
    for (const [, path] of text.matchAll(IMPORT)) {
      const to = roomOf(relative(src, join(src, dirname(file), path!)));
      if (path!.endsWith('/package.json')) continue; // for the version
      if (to !== from && !allowed.includes(to)) {
        wrong.push(`src/${file}: ${from} may not import from ${to} (${path})`);
      }
    }
  }
  return wrong;
}

function roomOf(file: string): string {
  return file.split('/')[0]!;
}
