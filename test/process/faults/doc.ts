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
    if (!result) return `| \`${name}\` | ${fault} | ${mustHold} | not yet | | |`;
    const { tried, figures, broke, scale, on, seconds, load } = result;
    const held = broke.length === 0 ? 'yes' : `**no**: ${broke[0]!.replaceAll(/[|\n]/g, ' ')}`;
    const when = `${on}, ${scale === 'full' ? 'full scale' : 'CI scale'}, ${seconds} s${load === undefined ? '' : `, load ${load}`}`;
    return `| \`${name}\` | ${fault} | ${mustHold} | ${held} | ${tried}. ${figures} | ${when} |`;
  });
  return `# Reliability: what was tried, and what held

Every row is a real fault on the real program: child processes, signals, cut connections, full disks. \`npm run faults\` plays them
at full scale and writes this page; \`npm run faults -- --only NAME\` plays one and keeps the others. \`npm test\` plays all of
them at a smaller scale, with slack for promised times. The code of a row is \`NAME.ts\` in a folder of \`test/process/faults/\`; its numbers are in \`scales.ts\` beside it.
The rows of replicas are played there by \`replicas.test.ts\` and \`ledger-away.test.ts\`.
The load is that of the machine, other work on it included; a machine of two cores is busy at 2.

| Row | Fault | Must hold | Held | Tried and found | When |
|---|---|---|---|---|---|
${rows.join('\n')}
`;
}
