import { Cluster } from '../../../replicas/cluster.ts';
import { startFaultyPostgres } from '../../../replicas/faulty-postgres.ts';
import { WebhookReceiver } from '../../../support/http/webhook-receiver.ts';
import { ADMIN_TOKEN } from '../../../support/replication/replicas.ts';
import { row } from '../row.ts';
import { alarmIsPosted, healthBecomes, holdsOneAlarm } from './alarmed.ts';

const METRICS = [
  'openpit_ready 0',
  'openpit_ledger_reachable 0',
  'openpit_alarm{alarm="ledger.unreachable"} 1',
];

export const ledgerUnreachable = row('ledger-unreachable', {
  fault: 'the ledger is unreachable: PostgreSQL is stopped, or the network drops all packets',
  mustHold: 'readiness turns 503 within 5 s, one alarm, cleared on recovery; no log flood; live stays 200',
  async run(environment, { awayMs }) {
    const noticed: number[] = [];
    const recovered: number[] = [];
    const lines: number[] = [];
    for (const way of ['stop', 'hole'] as const) {
      const receiver = new WebhookReceiver();
      environment.atEnd(() => receiver.stop());
      const database = await startFaultyPostgres();
      environment.atEnd(() => database.remove());
      const settings = { OPENPIT_WEBHOOK_URL: receiver.url };
      const cluster = await Cluster.start(database.url, 2, database.through, settings);
      environment.atEnd(() => cluster.end());
      const { programs } = cluster.replicas;
      const from = programs.map(({ stderr }) => stderr.length);
      await database.faults[way].begin();
      const away = Bun.sleep(awayMs);
      noticed.push(
        ...(await Promise.all(programs.map((one) => healthBecomes(one, 503, ['ledger.unreachable'])))),
      );
      for (const program of programs) {
        const metrics = await program.metrics(ADMIN_TOKEN);
        for (const line of METRICS)
          environment.holds(metrics.includes(`${line}\n`), `/metrics lacks ${line}`);
      }
      await alarmIsPosted(receiver, 'ledger.unreachable');
      await away;
      await database.faults[way].end();
      recovered.push(...(await Promise.all(programs.map((one) => healthBecomes(one, 200, [])))));
      for (const [i, program] of programs.entries()) {
        const alarm = { program, receiver, name: 'ledger.unreachable', from: from[i]! };
        lines.push(await holdsOneAlarm(environment, alarm));
      }
    }
    const [slowest, latest] = [Math.max(...noticed), Math.max(...recovered)];
    environment.holdsWithin(5_000, slowest, 'to notice the outage');
    environment.holdsWithin(5_000, latest, 'to notice its end');
    return {
      tried: `two replicas, PostgreSQL stopped, then cut off, for ${awayMs / 1000} s`,
      figures: `not ready after at most ${Math.round(slowest)} ms, ready again after at most ${Math.round(latest)} ms; one alarm and its end for each; at most ${Math.max(...lines)} lines in a log`,
    };
  },
});
