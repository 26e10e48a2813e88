import { systemClock } from '../../../../src/runtime/clock.ts';
import { ENGINES, type EngineName } from '../../../support/ledger.ts';
import { percentile } from '../../../support/percentile.ts';
import { count, type Environment, usedOf } from '../environment.ts';
import { publishDays } from '../published-days.ts';
import { row } from '../row.ts';

const SYMBOLS = 100;
/** The pause between two requests of the other account, which behaves like a normal customer. */
const PAUSE_MS = 5;
const OTHERS = '/rates/latest?symbols=XAU,XAG';

export const pastReads = row('past-reads', {
  fault: 'one account sends the most expensive requests about the past, 20 at once',
  mustHold: 'each costs a unit whatever its outcome; other accounts are served meanwhile',
  async run(environment, { days, rounds, atOnce }) {
    let [sent, answered] = [0, 0];
    const p99s: string[] = [];
    for (const engine of ENGINES) {
      const report = await runOn(environment, engine, { days, rounds, atOnce });
      sent += report.sent;
      answered += report.answered;
      p99s.push(`${engine} ${report.p99Ms.toFixed(1)} ms`);
    }
    return {
      tried: `${count(sent)} requests about ${count(days)} days of ${SYMBOLS} symbols, ${atOnce} at once, on each engine`,
      figures: `${count(sent)} units charged for them; ${count(answered)} requests of another account answered meanwhile, p99 ${p99s.join(', ')}`,
    };
  },
});

async function runOn(
  environment: Environment,
  engine: EngineName,
  { days, rounds, atOnce }: { days: number; rounds: number; atOnce: number },
): Promise<{ sent: number; answered: number; p99Ms: number }> {
  const settings = await environment.settings(engine);
  const codes = await publishDays(settings, SYMBOLS, days);
  const greedy = await environment.account(settings, 1_000_000_000);
  const modest = await environment.account(settings, 1_000_000_001);
  const plan = ['fault-1000000000-0', '--quota', '1000000000', '--burst', '1000000', '--delay-seconds', '0'];
  await environment.run(settings, 'plan', 'set', ...plan, '--max-symbols', `${SYMBOLS}`);
  const program = await environment.program(settings);
  await program.get(OTHERS, modest.key);

  const paths = worst(codes, days);
  const wanted = Array.from({ length: rounds * atOnce }, (_, i) => paths[i % paths.length]!);
  let isOver = false;
  const burden = Promise.all(
    Array.from({ length: atOnce }, () => work(environment, program.url, greedy.key, wanted)),
  );
  void burden.finally(() => {
    isOver = true;
  });
  const times: number[] = [];
  do {
    const start = performance.now();
    const { status } = await program.get(OTHERS, modest.key);
    times.push(performance.now() - start);
    environment.holds(status === 200, `${engine}: another account was answered with ${status}`);
    await Bun.sleep(PAUSE_MS);
  } while (!isOver);
  await burden;
  const sent = rounds * atOnce;
  const used = await usedOf(program, greedy.key);
  environment.holds(used === sent, `${engine}: ${used} units were charged for ${sent} requests`);
  const usedByOther = await usedOf(program, modest.key);
  const answered = times.length + 1;
  environment.holds(usedByOther === answered, `${engine}: ${usedByOther} units for ${answered} responses`);
  await environment.holdsInvariant(settings);
  return { sent, answered, p99Ms: percentile(times, 0.99) };
}

/** Sends the requests of the list until it is empty. */
async function work(environment: Environment, url: string, key: string, wanted: Wanted[]): Promise<void> {
  for (let next = wanted.pop(); next; next = wanted.pop()) {
    const { method, path, status } = next;
    const response = await fetch(url + path, { method, headers: { 'x-api-key': key } });
    await response.arrayBuffer();
    environment.holds(
      response.status === status,
      `${response.status} in place of ${status} for ${path.slice(-60)}`,
    );
  }
}

interface Wanted {
  method: string;
  path: string;
  status: number;
}

function worst(codes: readonly string[], days: number): Wanted[] {
  const symbols = `symbols=${codes.join(',')}`;
  const dateOf = (daysAgo: number) =>
    new Date(systemClock.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
  const range = `startDate=${dateOf(days)}&endDate=${dateOf(1)}`;
  const asOf = `asOf=${dateOf(0)}`;
  return [
    { method: 'HEAD', path: `/rates/history?${symbols}&${range}&interval=year&${asOf}`, status: 200 },
    { method: 'GET', path: `/rates/historical?${symbols}&date=1900-01-01&${asOf}`, status: 404 },
    { method: 'GET', path: `/rates/historical?${symbols}&date=2001-01-01&asOf=2001-01-01`, status: 404 },
    { method: 'GET', path: `/rates/revisions?${symbols}&${range}`, status: 200 },
    { method: 'GET', path: `/rates/history?${symbols}&${range}&interval=month&${asOf}`, status: 200 },
    { method: 'GET', path: `/rates/fluctuation?${symbols}&${range}&${asOf}`, status: 200 },
  ];
}
