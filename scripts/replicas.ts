/**
 * `npm run replicas -- TRIAL [--replicas 3] [--runs 20] [--quota 10000] [--seconds 10] [--times 50]`: replicas of the real
 * program on a PostgreSQL of their own, under load and under faults. The tests do the same with smaller numbers. Exits with
 * 1 when a guarantee is violated.
 */

import { Cluster } from '../test/replicas/cluster.ts';
import { type FaultyPostgres, startFaultyPostgres } from '../test/replicas/faulty-postgres.ts';
import { killed, faultsOf as killFaults } from '../test/replicas/kill.ts';
import { outage, faultsOf as outageFaults } from '../test/replicas/outage.ts';
import { expectedRace, race } from '../test/replicas/race.ts';
import { rolling, faultsOf as rollingFaults } from '../test/replicas/rolling.ts';
import { revocationSpread, tickSpread } from '../test/replicas/spread.ts';
import { removeFolders } from '../test/support/ledger.ts';
import { percentile } from '../test/support/percentile.ts';
import { readFlags } from './flags.ts';

/** Promised in docs/operating.md. */
const RECOVERY_MS_MAX = 5_000;
const TICK_P99_MS_MAX = 500;
const REVOKED_MS_MAX = 1_000;

const { values, positionals } = readFlags({
  allowPositionals: true,
  options: {
    replicas: { type: 'string', default: '3' },
    runs: { type: 'string', default: '20' },
    quota: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '10' },
    times: { type: 'string', default: '50' },
  },
});
const [replicas, runs, quota, seconds, times] = [
  Number(values.replicas),
  Number(values.runs),
  Number(values.quota),
  Number(values.seconds),
  Number(values.times),
];

type Trial = (cluster: Cluster, database: FaultyPostgres) => Promise<string[]>;

const TRIALS: Record<string, Trial> = {
  async race(cluster) {
    const faults: string[] = [];
    for (let run = 1; run <= runs; run++) {
      const start = performance.now();
      const outcome = await race(cluster, quota);
      const line = `run ${run}: ${JSON.stringify(outcome)}`;
      console.log(`${line}, ${((performance.now() - start) / 1000).toFixed(1)} s`);
      if (!Bun.deepEquals(outcome, expectedRace(quota))) faults.push(line);
    }
    return [...faults, ...(await cluster.wrongCounts())];
  },
  async kill(cluster) {
    const outcome = await killed(cluster, quota, times);
    console.log(outcome);
    return killFaults(outcome);
  },
  async rolling(cluster) {
    const { failed, ...outcome } = await rolling(cluster, times);
    console.log({ ...outcome, failed: failed.length });
    return rollingFaults({ failed, ...outcome });
  },
  async spread(cluster) {
    const ticks = await tickSpread(cluster, times);
    const keys = await revocationSpread(cluster, Math.ceil(times / 5));
    console.log(figures('a tick pushed to one replica shows on the others', ticks));
    console.log(figures('a revoked key is refused on all', keys));
    const faults: string[] = [];
    if (percentile(ticks, 0.99) > TICK_P99_MS_MAX) faults.push(`ticks: p99 above ${TICK_P99_MS_MAX} ms`);
    if (Math.max(...keys) > REVOKED_MS_MAX)
      faults.push(`a revoked key was accepted for over ${REVOKED_MS_MAX} ms`);
    return faults;
  },
  stop: (cluster, { faults }) => tryOutage(cluster, faults.stop),
  hole: (cluster, { faults }) => tryOutage(cluster, faults.hole),
  slow: (cluster, { faults }) => tryOutage(cluster, faults.slow),
};

async function tryOutage(cluster: Cluster, fault: FaultyPostgres['faults']['stop']): Promise<string[]> {
  const outcome = await outage(cluster, seconds * 1000, fault);
  console.log(outcome);
  const faults = outageFaults(outcome);
  if (outcome.recoveryMs > RECOVERY_MS_MAX)
    faults.push(`recovered after ${outcome.recoveryMs.toFixed(0)} ms`);
  return faults;
}

function figures(what: string, ms: readonly number[]): string {
  const [p50, p99, most] = [percentile(ms, 0.5), percentile(ms, 0.99), Math.max(...ms)].map(Math.round);
  return `${what}: p50 ${p50} ms, p99 ${p99} ms, at most ${most} ms (${ms.length} times)`;
}

const trial = TRIALS[positionals[0] ?? ''];
if (!trial) {
  console.error(`Name a trial: ${Object.keys(TRIALS).join(', ')}`);
  process.exit(2);
}
const database = await startFaultyPostgres();
const isFaulty = ['stop', 'hole', 'slow'].includes(positionals[0]!);
const cluster = await Cluster.start(database.url, replicas, isFaulty ? database.through : database.url);
let faults: string[];
try {
  faults = await trial(cluster, database);
} catch (error) {
  faults = [String(error)];
}
await cluster.end();
await database.remove();
removeFolders();
for (const fault of faults) console.error(`DOES NOT HOLD: ${fault}`);
if (faults.length === 0) console.log('Everything holds.');
process.exit(faults.length === 0 ? 0 : 1);
