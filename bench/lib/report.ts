import { existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '..', '..');
const RESULTS = join(ROOT, 'bench', 'results');
const PAGE = join(ROOT, 'docs', 'performance.md');

/** The parts of docs/performance.md in their order, each by the bench that writes it. */
const PARTS = [
  'customers-steady',
  'customers-startup',
  'customers-arrival',
  'customers-postgres',
  'customers-same',
  'customers-memory',
  'customers-sparse',
  'customers-growth',
  'speed',
  'counting',
  'growth',
  'latency',
  'start',
  'open-day',
  'fairness',
  'visitors',
  'cost',
  'retained-ticks',
  'push',
  'symbols',
  'large-catalogue',
  'processes',
  'move',
  'downloads',
  'formulas',
  'export',
] as const;

export type Part = (typeof PARTS)[number];

/** Writes the results of a run to bench/results/, and generates docs/performance.md from all results. */
export async function report(
  part: Part,
  title: string,
  command: string,
  lines: readonly string[],
): Promise<void> {
  const git = Bun.spawnSync(['git', 'rev-parse', '--short', 'HEAD'], { cwd: ROOT });
  const run = `${new Date().toISOString().slice(0, 10)}, commit ${git.stdout.toString().trim()}, ${machine()}. Command: \`${command}\`.`;
  await Bun.write(join(RESULTS, `${part}.md`), `## ${title}\n\n${lines.join('\n')}\n\n${run}\n`);
  await Bun.write(PAGE, performancePage());
  console.log(`\nWritten to bench/results/${part}.md and docs/performance.md`);
}

/** All results, as one page. */
function performancePage(): string {
  const parts = PARTS.map((part) => join(RESULTS, `${part}.md`)).filter((file) => existsSync(file));
  return `${INTRODUCTION}\n${parts.map((file) => readFileSync(file, 'utf8')).join('\n')}`;
}

const INTRODUCTION = `# Performance

Every figure on this page comes from a benchmark in \`bench/\`; the command is given below it. Do not compare figures from different
machines. Ratios within a table are comparable, because their rounds are interleaved. *Requests per CPU-second* is the number of
responses divided by the CPU time that the server used, so it does not depend on other load on the machine. The server and the load
generator each have a core of their own.

In addition to \`npm ci\`: \`npm ci --prefix bench\` (the Fastify reference) and \`apt-get install nginx-light wrk\`. A benchmark that lacks one of
them skips that comparison and prints a note.
`;

function machine(): string {
  const model = cpus()[0]?.model;
  return `${model && model !== 'unknown' ? model : 'a virtual machine'} (${process.arch}), ${cpus().length} cores`;
}
