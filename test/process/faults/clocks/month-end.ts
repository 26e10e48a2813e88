import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { load } from '../../../support/load.ts';
import type { Program } from '../../../support/program.ts';
import { WallClock } from '../../../support/wall-clock.ts';
import { count, type Environment, type Settings } from '../environment.ts';
import { row } from '../row.ts';
import type { ScaleOf } from '../scales.ts';

const DAY = 86_400_000;

interface Usage {
  used: number;
  resetAt: number;
}

export const monthEnd = row('month-end', {
  fault: 'the month ends under load; the local clock is wrong by a month while PostgreSQL’s is right',
  mustHold: 'every request is counted once, in the right month',
  lacks: WallClock.lacks,
  async run(environment, scale) {
    const crossed = await overTheEnd(environment, scale);
    const wrong = await wrongClock(environment);
    return {
      tried: `the end of a month with ${count(crossed.answered)} requests around it on SQLite; a local clock set forward and back by 40 days, on PostgreSQL`,
      figures: `${count(crossed.old)} counted in the old month and ${count(crossed.new)} in the new one; ${wrong} of ${wrong} counted in PostgreSQL's month`,
    };
  },
});

/** The month ends under load: the counts of both months add up to what was answered. */
async function overTheEnd(environment: Environment, { connections, seconds, pauseMs }: ScaleOf<'month-end'>) {
  const clock = new WallClock();
  const settings: Settings = { ...(await environment.settings()), ...clock.settings };
  const now = new Date();
  const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  clock.setByMs = end - Date.now() - 60_000;
  const { key } = await environment.account(settings, 1_000_000_000);
  const program = await environment.program(settings);
  const stop = new AbortController();
  const loading = load({
    url: `${program.url}/symbols`,
    key,
    connections,
    until: stop.signal,
    pauseMs,
  });
  await Bun.sleep(300);
  clock.setByMs = end - Date.now() - (seconds / 2) * 1000;
  await Bun.sleep(seconds * 1000);
  stop.abort();
  const { statuses, broken } = await loading;
  const answered = statuses.get(200) ?? 0;
  clock.setByMs = 0; // stopping waits by the system's clock, which the shim does not change
  await program.end('SIGTERM');
  const months = usedByMonth(join(settings.OPENPIT_DATA_DIR!, 'openpit.db'));
  const [old = 0, young = 0] = months;
  environment.holds(
    broken === 0 && statuses.size === 1,
    `answers: ${JSON.stringify([...statuses])}, broken ${broken}`,
  );
  environment.holds(months.length === 2 && old > 0 && young > 0, `used by month: ${months.join()}`);
  environment.holds(old + young === answered, `${answered} answered, used by month: ${months.join()}`);
  await environment.holdsInvariant(settings);
  return { answered, old, new: young };
}

function usedByMonth(file: string): number[] {
  const database = new Database(file, { readonly: true });
  const rows = database.query('SELECT period, used FROM quota_period ORDER BY period').values();
  database.close();
  return rows.map(([, used]) => Number(used));
}

/** PostgreSQL's clock decides which month it is, not the replica's. */
async function wrongClock(environment: Environment): Promise<number> {
  const clock = new WallClock();
  const settings = { ...(await environment.settings('postgres')), ...clock.settings };
  const { key } = await environment.account(settings, 1_000_000);
  const program = await environment.program(settings);
  const resets = new Set<number>();
  let asked = 0;
  for (const setBy of [0, 40 * DAY, -40 * DAY, 0]) {
    clock.setByMs = setBy;
    for (let i = 0; i < 20; i++, asked++) {
      const { status } = await program.get('/symbols', key);
      environment.holds(status === 200, `with the clock set by ${setBy / DAY} days: ${status}`);
    }
    resets.add((await usageOf(program, key)).resetAt);
  }
  const { used } = await usageOf(program, key);
  environment.holds(used === asked, `${asked} answered, ${used} used`);
  environment.holds(resets.size === 1, `the quota's end moved: ${[...resets].join()}`);
  return used;
}

async function usageOf(program: Program, key: string): Promise<Usage> {
  return (await (await program.get('/usage', key)).json()) as Usage;
}
