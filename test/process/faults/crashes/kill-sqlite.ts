import { join } from 'node:path';
import { load } from '../../../support/load.ts';
import type { Program } from '../../../support/program.ts';
import { count, usedOf } from '../environment.ts';
import { PricePusher, TOKEN } from '../price-pusher.ts';
import { row } from '../row.ts';

export const killSqlite = row('kill-sqlite', {
  fault: '`kill -9` under load, repeatedly, on SQLite',
  mustHold:
    'answered ≤ used ≤ answered + in flight; no acknowledged tick or bar is lost; serving again within 2 s',
  async run(environment, { kills, connections }) {
    const settings = await environment.settings();
    settings.OPENPIT_ADMIN_TOKEN = TOKEN;
    const { key } = await environment.account(settings, 1_000_000_000);
    const pusher = new PricePusher();
    let program = await environment.program(settings);
    let answered = 0;
    let slowestMs = 0;
    for (let kill = 1; kill <= kills; kill++) {
      answered += await loadAndKill(program, key, connections, 20 + ((kill * 37) % 400), pusher);
      const start = performance.now();
      program = await environment.program(settings);
      slowestMs = Math.max(slowestMs, performance.now() - start);
      const used = await usedOf(program, key);
      const over = used - answered;
      environment.holds(
        over >= 0 && over <= kill * connections,
        `kill ${kill}: answered ${answered}, used ${used}`,
      );
    }
    environment.holdsWithin(2_000, slowestMs, 'the slowest start');
    const missing = pusher.missingIn(join(settings.OPENPIT_DATA_DIR!, 'openpit.db'));
    environment.holds(missing === 0, `${missing} acknowledged prices are lost`);
    await environment.holdsInvariant(settings);
    const used = await usedOf(program, key);
    return {
      tried: `${count(kills)} kills under ${connections} connections and a feed, ${count(answered)} answers, ${count(pusher.acknowledged)} prices acknowledged`,
      figures: `used is ${used - answered} above answered, with at most ${count(kills * connections)} in flight; ${missing} prices lost; slowest start ${Math.round(slowestMs)} ms`,
    };
  },
});

/** Returns how many requests were answered before the kill. */
async function loadAndKill(
  program: Program,
  key: string,
  connections: number,
  killAfter: number,
  pusher: PricePusher,
): Promise<number> {
  const stop = new AbortController();
  const enough = Promise.withResolvers<void>();
  const before = pusher.acknowledged;
  const pushing = pusher.sendUntil(program.url, stop.signal);
  const loading = load({
    url: `${program.url}/symbols`,
    key,
    connections,
    until: stop.signal,
    onAnswer: (answers) => void (answers === killAfter && enough.resolve()),
  });
  await enough.promise;
  while (pusher.acknowledged === before) await Bun.sleep(5);
  await program.end('SIGKILL');
  stop.abort();
  await pushing;
  return (await loading).statuses.get(200) ?? 0;
}
