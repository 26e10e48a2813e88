/** `npm run build`: one executable with the page and the threads inside, dist/openpit. */
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '..');

const [outfile = join(ROOT, 'dist', 'openpit')] = process.argv.slice(2);

const { success, logs } = await Bun.build({
  entrypoints: [
    'main.ts',
    'feeds/thread/worker.ts',
    'api/ledger-reads/reader-worker.ts',
    'api/parquet/parquet-worker.ts',
    'ledger/inspection/integrity-thread.ts',
    'service/jobs/job-worker.ts',
  ].map((file) => join(ROOT, 'src', file)),
  compile: { outfile },
  minify: true,
  bytecode: true, // a command starts in a third of the CPU time, which is mostly parsing
  format: 'esm',
  splitting: true, // the page loads its chart library when the first chart is shown
  // All entries side by side: a thread is found as ./worker.ts, ./reader-worker.ts, ./parquet-worker.ts, ./integrity-thread.ts or ./job-worker.ts from wherever it is started.
  naming: { entry: '[name].[ext]' },
  define: { 'process.env.NODE_ENV': '"production"' },
});
for (const log of logs) console.error(log);
if (!success) process.exit(1);
console.log(outfile);
