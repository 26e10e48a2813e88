/**
 * `npm run bench:customers`: what requests cost when ten thousand customers send them. `npm run bench:customers -- steady same`
 * runs only those parts: steady, startup, arrival, postgres, same, memory, sparse, growth.
 */
import { type Part, report } from '../lib/report.ts';
import { arrival } from './arrival.ts';
import { growth } from './growth.ts';
import { memory } from './memory.ts';
import { postgres, startup, steady } from './mix.ts';
import { POPULATION } from './population.ts';
import { same } from './same.ts';
import { sparse } from './sparse.ts';

interface CustomerPart {
  part: Part;
  title: string;
  run(): Promise<string[]>;
}

const PARTS: Readonly<Record<string, CustomerPart>> = {
  steady: { part: 'customers-steady', title: 'Ten thousand customers', run: withPopulation(steady) },
  startup: { part: 'customers-startup', title: 'Ten thousand customers after a start', run: startup },
  arrival: {
    part: 'customers-arrival',
    title: 'Ten thousand customers in the first seconds after a start',
    run: arrival,
  },
  postgres: { part: 'customers-postgres', title: 'Ten thousand customers on PostgreSQL', run: postgres },
  same: { part: 'customers-same', title: 'Many customers, one request', run: same },
  memory: { part: 'customers-memory', title: 'Memory of active customers', run: memory },
  sparse: {
    part: 'customers-sparse',
    title: 'A hundred thousand customers, one request a minute',
    run: sparse,
  },
  growth: { part: 'customers-growth', title: 'From 1,000 to 100,000 customers', run: growth },
};

const names = process.argv.slice(2);
const unknown = names.find((name) => !(name in PARTS));
if (unknown) {
  console.error(`There is no part "${unknown}"; the parts are ${Object.keys(PARTS).join(', ')}.`);
  process.exit(2);
}
for (const name of names.length > 0 ? names : Object.keys(PARTS)) {
  const { part, title, run } = PARTS[name]!;
  const lines = await run();
  console.log(`\n## ${title}\n\n${lines.join('\n')}`);
  if (process.env.REPORT !== 'false') await report(part, title, `npm run bench:customers -- ${name}`, lines);
}
process.exit(0);

function withPopulation(run: () => Promise<string[]>): () => Promise<string[]> {
  return async () => [POPULATION, '', ...(await run())];
}
