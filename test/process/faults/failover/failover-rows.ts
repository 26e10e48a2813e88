import { Cluster } from '../../../replicas/cluster.ts';
import { type FailoverOptions, failover, faultsOf } from '../../../replicas/failover.ts';
import { outage, faultsOf as outageFaults } from '../../../replicas/outage.ts';
import { ReplicatedPostgres, type Replication } from '../../../support/replication/replicated-postgres.ts';
import { count, type Environment } from '../environment.ts';
import { healthBecomes } from '../outages/alarmed.ts';
import { type Row, type RowReport, row } from '../row.ts';

const synchronous = row('failover-synchronous', {
  fault:
    'the PostgreSQL primary is killed under load and its synchronous standby promoted; the old primary returns',
  mustHold:
    'nothing is lost, counts are exact, all replicas serve within 5 s of the promotion; the old primary is not written to',
  run: (environment, { quota, awayMs }) => run(environment, 'synchronous', { quota, awayMs, lostMs: 0 }),
});

const asynchronous = row('failover-asynchronous', {
  fault: 'the same with an asynchronous standby that lags: the ledger goes back by some seconds',
  mustHold:
    'the spools restore every count; responses exceed a quota by at most what was leased in the lost seconds; all replicas serve within 5 s; the old primary is not written to',
  run: (environment, { quota, awayMs, lostMs }) =>
    run(environment, 'asynchronous', { quota, awayMs, lostMs }),
});

const standbyHangs = row('standby-hangs', {
  fault: 'the only synchronous standby hangs under load, so that no write is confirmed, and resumes later',
  mustHold: 'no wrong count; readiness turns 503, with an alarm; recovery within 5 s without a restart',
  async run(environment, { awayMs }) {
    const { postgres, cluster } = await start(environment, 'synchronous');
    const alarmed = Promise.withResolvers<void>();
    const outcome = await outage(cluster, awayMs, {
      async begin() {
        postgres.standby.pause();
        const all = cluster.replicas.programs.map((one) => healthBecomes(one, 503, ['ledger.unreachable']));
        Promise.all(all).then(() => alarmed.resolve(), alarmed.reject);
      },
      async end() {
        await alarmed.promise.finally(() => postgres.standby.resume());
      },
    });
    for (const fault of outageFaults(outcome)) environment.holds(false, fault);
    environment.holdsWithin(5_000, outcome.recoveryMs, 'the recovery');
    return {
      tried: `three replicas under load, the standby stopped (SIGSTOP) for ${awayMs / 1000} s`,
      figures: `every replica not ready, with an alarm; full recovery after ${Math.round(outcome.recoveryMs)} ms; ${count(outcome.answered)} answered, ${count(outcome.used)} counted`,
    };
  },
});

export const FAILOVER_ROWS: readonly Row[] = [synchronous, asynchronous, standbyHangs];

async function start(environment: Environment, replication: Replication) {
  const postgres = await ReplicatedPostgres.start(replication);
  environment.atEnd(() => postgres.remove());
  const cluster = await Cluster.start(postgres.url, 3);
  environment.atEnd(() => cluster.end());
  return { postgres, cluster };
}

async function run(
  environment: Environment,
  replication: Replication,
  options: FailoverOptions,
): Promise<RowReport> {
  const { postgres, cluster } = await start(environment, replication);
  const outcome = await failover(cluster, postgres, options);
  const { large, small, ticks, grantedInLostSeconds } = outcome;
  for (const fault of faultsOf(outcome, replication === 'synchronous')) environment.holds(false, fault);
  environment.holdsWithin(5_000, large.recoveryMs, 'the recovery');
  const lost =
    options.lostMs > 0
      ? `; ${count(grantedInLostSeconds)} of its units were leased in ${options.lostMs / 1000} s of lost writes`
      : '';
  return {
    tried: `three replicas under load, ${options.awayMs / 1000} s from the kill to the promotion, a quota of ${count(small.quota)} in use throughout`,
    figures: `${count(large.answered + small.answered)} answered, ${count(large.used + small.used)} counted; ${count(small.answered)} responses from that quota${lost}; ${count(ticks.kept)} of ${count(ticks.acknowledged)} acknowledged ticks kept; full recovery ${Math.round(large.recoveryMs)} ms after the promotion; ${outcome.writesToOldPrimary} writes to the old primary`,
  };
}
