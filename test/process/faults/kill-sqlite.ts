import { load } from '../../support/load.ts';
import type { Program } from '../../support/program.ts';
import { row } from './row.ts';
import { count, usedOf } from './scene.ts';

export const killSqlite = row('kill-sqlite', {
  fault: '`kill -9` under load, again and again, on SQLite',
  mustHold: 'answered ≤ used ≤ answered + in flight; serving again within 2 s',
  async play(scene, { kills, connections }) {
    const settings = await scene.settings();
    const { key } = await scene.account(settings, 1_000_000_000);
    let program = await scene.program(settings);
    let answered = 0;
    let slowestMs = 0;
    for (let kill = 1; kill <= kills; kill++) {
      answered += await loadAndKill(program, key, connections, 20 + ((kill * 37) % 400));
      const start = performance.now();
      program = await scene.program(settings);
      slowestMs = Math.max(slowestMs, performance.now() - start);
      const used = await usedOf(program, key);
      const over = used - answered;
      scene.holds(
        over >= 0 && over <= kill * connections,
        `kill ${kill}: answered ${answered}, used ${used}`,
      );
    }
    scene.holds(slowestMs < 2_000, `the slowest start took ${Math.round(slowestMs)} ms`);
    await scene.holdsInvariant(settings);
    const used = await usedOf(program, key);
    return {
      tried: `${count(kills)} kills under ${connections} connections, ${count(answered)} answers`,
      figures: `used is ${used - answered} above answered, with at most ${count(kills * connections)} in flight; slowest start ${Math.round(slowestMs)} ms`,
    };
  },
});

/** Answers how many requests were answered before the end. */
async function loadAndKill(
  program: Program,
  key: string,
  connections: number,
  killAfter: number,
): Promise<number> {
  const stop = new AbortController();
  const enough = Promise.withResolvers<void>();
  const loading = load({
    url: `${program.url}/symbols`,
    key,
    connections,
    requests: 1e9,
    until: stop.signal,
    onAnswer: (answers) => void (answers === killAfter && enough.resolve()),
  });
  await enough.promise;
  await program.end('SIGKILL');
  stop.abort();
  return (await loading).statuses.get(200) ?? 0;
}
