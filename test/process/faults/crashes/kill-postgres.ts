import { Cluster } from '../../../replicas/cluster.ts';
import { faultsOf, killed } from '../../../replicas/kill.ts';
import { readyLedgerUrl } from '../../../support/database/ready-ledger.ts';
import { count } from '../environment.ts';
import { row } from '../row.ts';

export const killPostgres = row('kill-postgres', {
  fault: 'one of three replicas on PostgreSQL is killed with `kill -9` under load, repeatedly',
  mustHold: 'never over the quota; every unit is answered or was in flight; serving again within 2 s',
  async run(environment, { rounds, quota, kills }) {
    const cluster = await Cluster.start(await readyLedgerUrl('postgres'), 3);
    environment.atEnd(() => cluster.end());
    let [answered, broken, slowestMs] = [0, 0, 0];
    for (let round = 1; round <= rounds; round++) {
      const result = await killed(cluster, quota, kills);
      answered += result.answered;
      broken += result.broken;
      slowestMs = Math.max(slowestMs, result.startMsMax);
      for (const fault of faultsOf(result)) environment.holds(false, `round ${round}: ${fault}`);
    }
    environment.holdsWithin(2_000, slowestMs, 'the slowest start');
    return {
      tried: `${count(rounds * kills)} kills, ${rounds} quotas of ${count(quota)}`,
      figures: `${count(answered)} of ${count(rounds * quota)} answered, ${count(broken)} in flight when a replica was killed; slowest start ${Math.round(slowestMs)} ms`,
    };
  },
});
