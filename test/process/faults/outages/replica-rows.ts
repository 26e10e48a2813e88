import { Cluster } from '../../../replicas/cluster.ts';
import { type FaultyPostgres, startFaultyPostgres } from '../../../replicas/faulty-postgres.ts';
import { outage, faultsOf as outageFaults } from '../../../replicas/outage.ts';
import { expectedRace, race as raceOnce } from '../../../replicas/race.ts';
import { rolling, faultsOf as rollingFaults } from '../../../replicas/rolling.ts';
import { revocationSpread, tickSpread } from '../../../replicas/spread.ts';
import { readyLedgerUrl } from '../../../support/database/ready-ledger.ts';
import { percentile } from '../../../support/percentile.ts';
import { count, type Environment } from '../environment.ts';
import { type Row, type RowReport, row } from '../row.ts';

const race = row('race', {
  fault: 'replicas race for one quota, with twice as many requests as it allows',
  mustHold: 'exactly as many requests as the quota allows are answered in every run',
  async run(environment, { replicas, runs, quota }) {
    const cluster = await clusterOf(environment, replicas);
    for (let run = 1; run <= runs; run++) {
      const outcome = await raceOnce(cluster, quota);
      environment.holds(
        Bun.deepEquals(outcome, expectedRace(quota)),
        `run ${run}: ${JSON.stringify(outcome)}`,
      );
    }
    for (const wrong of await cluster.wrongCounts()) environment.holds(false, wrong);
    return {
      tried: `${replicas} replicas, ${runs} runs, ${count(2 * quota)} requests for a quota of ${count(quota)}`,
      figures: `exactly ${count(quota)} answered and ${count(quota)} refused in every run`,
    };
  },
});

const databaseAway = row('database-away', {
  fault: 'PostgreSQL is stopped under load and restarted',
  mustHold:
    'no wrong count; requests are served from memory while leases last; recovery within 5 s without a restart',
  run: (environment, { awayMs }) => away(environment, awayMs, 'stop', 5_000),
});

const blackHole = row('black-hole', {
  fault: 'the network to PostgreSQL drops all packets: connections stay open, but nothing arrives',
  mustHold: 'no wrong count; latency and memory stay flat',
  run: (environment, { awayMs }) => away(environment, awayMs, 'hole', 10_000), // a hung call times out after 5 s
});

const slowDatabase = row('slow-database', {
  fault: '50 ms of network latency to PostgreSQL',
  mustHold: 'latency and memory stay flat',
  run: (environment, { awayMs }) => away(environment, awayMs, 'slow', 5_000),
});

const rollingRestarts = row('rolling-restarts', {
  fault: 'replicas are restarted one after the other with SIGTERM, under load',
  mustHold: 'no failed request, no lost unit',
  async run(environment, { restarts }) {
    const rolled = await rolling(await clusterOf(environment, 3), restarts);
    for (const fault of rollingFaults(rolled)) environment.holds(false, fault);
    return {
      tried: `${restarts} restarts of three replicas, ${count(rolled.answered)} requests`,
      figures: `${rolled.failed.length} failed; ${count(rolled.answered)} answered, ${count(rolled.used)} counted`,
    };
  },
});

const spread = row('spread', {
  fault: 'a key is revoked; a tick is pushed to one replica',
  mustHold: 'refused on every replica within a second; visible on every replica within half a second',
  async run(environment, { ticks, keys }) {
    const cluster = await clusterOf(environment, 3);
    const shown = await tickSpread(cluster, ticks);
    const refused = await revocationSpread(cluster, keys);
    const [p99, slowest] = [percentile(shown, 0.99), Math.max(...refused)];
    environment.holdsWithin(500, p99, 'a tick to show (p99)');
    environment.holdsWithin(1_000, slowest, 'a revoked key to be refused');
    return {
      tried: `${ticks} ticks and ${keys} revoked keys on three replicas`,
      figures: `a tick was visible everywhere after ${Math.round(percentile(shown, 0.5))} ms (p50), ${Math.round(p99)} ms (p99); a revoked key was refused everywhere after at most ${Math.round(slowest)} ms`,
    };
  },
});

/** Faults of replicas that share a PostgreSQL. `npm run replicas` runs them at any scale. */
export const REPLICA_ROWS: readonly Row[] = [
  race,
  databaseAway,
  blackHole,
  slowDatabase,
  rollingRestarts,
  spread,
];

/** Memory growth of two replicas together that is garbage of half a minute. */
const GROWN_MB_MAX = 100;

async function clusterOf(environment: Environment, replicas: number): Promise<Cluster> {
  const cluster = await Cluster.start(await readyLedgerUrl('postgres'), replicas);
  environment.atEnd(() => cluster.end());
  return cluster;
}

/** Makes the ledger of two replicas unreachable for a while. */
async function away(
  environment: Environment,
  awayMs: number,
  way: keyof FaultyPostgres['faults'],
  recoveryMsMax: number,
): Promise<RowReport> {
  const database = await startFaultyPostgres();
  environment.atEnd(() => database.remove());
  const cluster = await Cluster.start(database.url, 2, database.through);
  environment.atEnd(() => cluster.end());
  const outcome = await outage(cluster, awayMs, database.faults[way]);
  for (const fault of outageFaults(outcome)) environment.holds(false, fault);
  const { recoveryMs, servedMs, answered, used, p99Ms, grownMb } = outcome;
  environment.holdsWithin(recoveryMsMax, recoveryMs, 'the recovery');
  environment.holdsLatency(2 * p99Ms.before + 20, p99Ms.during, 'the slowest of a hundred answers');
  environment.holds(grownMb < GROWN_MB_MAX, `memory grew by ${grownMb.toFixed(0)} MB`);
  return {
    tried: `two replicas under load, for ${awayMs / 1000} s`,
    figures: `served from memory for ${(servedMs / 1000).toFixed(1)} s, p99 ${p99Ms.before.toFixed(1)} ms before and ${p99Ms.during.toFixed(1)} ms during the fault; memory ${grownMb < 0 ? '−' : '+'}${Math.abs(grownMb).toFixed(0)} MB; full recovery after ${Math.round(recoveryMs)} ms; ${count(answered)} answered, ${count(used)} counted`,
  };
}
