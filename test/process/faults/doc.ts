import { join } from 'node:path';
import type { Result } from './row.ts';
import { ROWS } from './rows.ts';

const ROOT = join(import.meta.dir, '..', '..', '..');
export const RELIABILITY = join(ROOT, 'docs', 'reliability.md');
/** The last result of each row, so that the page can be generated from several runs. */
const RESULTS = join(import.meta.dir, 'results.json');

/** Stores a result and writes the page. The other results are read again: two runs may be in progress at once. */
export async function keepResult(result: Result): Promise<void> {
  const file = Bun.file(RESULTS);
  const known: Partial<Record<string, Result>> = (await file.exists()) ? await file.json() : {};
  known[result.name] = result;
  await Bun.write(RESULTS, `${JSON.stringify(inOrder(known), null, 2)}\n`);
  await Bun.write(RELIABILITY, render(known));
}

/** Generates the page from the last result of each row. */
export async function reliabilityFromResults(): Promise<string> {
  return render(await Bun.file(RESULTS).json());
}

function inOrder(known: Partial<Record<string, Result>>): Record<string, Result> {
  return Object.fromEntries(ROWS.flatMap(({ name }) => (known[name] ? [[name, known[name]]] : [])));
}

function render(known: Partial<Record<string, Result>>): string {
  const rows = ROWS.map(({ name, fault, mustHold }) => {
    const result = known[name];
    if (!result) return `| \`${name}\` | ${fault} | ${mustHold} | not run yet | | |`;
    const { tried, figures, broke, scale, on, seconds, load } = result;
    const held = broke.length === 0 ? 'yes' : `**no**: ${broke[0]!.replaceAll(/[|\n]/g, ' ')}`;
    const when = `${on}, ${scale === 'full' ? 'full scale' : 'CI scale'}, ${seconds} s${load === undefined ? '' : `, load ${load}`}`;
    return `| \`${name}\` | ${fault} | ${mustHold} | ${held} | ${tried}. ${figures} | ${when} |`;
  });
  return `# Reliability: fault tests and their results

Every row is a real fault against the real program: child processes, signals, broken connections, full disks. \`npm run faults\` runs all
rows at full scale and writes this page; \`npm run faults -- --only NAME\` runs one row and keeps the other results. \`npm test\` runs
them at a smaller scale, with more tolerant time limits. The code of a row is \`NAME.ts\` in a folder of \`test/process/faults/\`; its parameters are in \`scales.ts\`.
\`replicas.test.ts\` and \`ledger-away.test.ts\` cover the rows about replicas at that scale.
\`load\` is the load average of the machine, including other work on it; a machine with two cores is fully used at 2.

| Row | Fault | Guarantee | Held | Test and result | When |
|---|---|---|---|---|---|
${rows.join('\n')}
`;
}
