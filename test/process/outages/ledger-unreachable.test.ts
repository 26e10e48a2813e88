import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Cluster } from '../../replicas/cluster.ts';
import { type Disturbed, disturbed } from '../../replicas/disturbed.ts';
import { eventually, type Program } from '../../support/program.ts';
import { ADMIN_TOKEN } from '../../support/replicas.ts';
import { WebhookReceiver } from '../../support/webhook-receiver.ts';

/** 5 s are promised; a busy machine may take longer. */
const NOTICED_MS_MAX = 20_000;
const LINES_MAX = 25;

describe('replicas whose PostgreSQL is', () => {
  let database: Disturbed;
  let cluster: Cluster;
  const receiver = new WebhookReceiver();
  beforeAll(async () => {
    database = await disturbed();
    cluster = await Cluster.start(database.url, 2, database.through, {
      OPENPIT_WEBHOOK_URL: receiver.url,
    });
  }, 60_000);
  afterAll(async () => {
    await cluster.end();
    await database.remove();
    await receiver.stop();
  });

  test.each(['stop', 'hole'] as const)(
    'unreachable (%s) are not ready, raise one alarm, and are ready again on its return',
    async (way) => {
      const { programs } = cluster.replicas;
      const before = programs.map(({ stderr }) => stderr.length);
      const posted = receiver.posts.length;
      await database.ways[way].goAway();
      for (const program of programs) {
        await eventually(async () => (await readiness(program)).status === 503, NOTICED_MS_MAX);
        const { body, metrics, live } = await readiness(program);
        expect(body).toMatchObject({ status: 'unavailable', ready: false, alarms: ['ledger.unreachable'] });
        expect(metrics).toContain('openpit_ready 0\n');
        expect(metrics).toContain('openpit_ledger_reachable 0\n');
        expect(metrics).toContain('openpit_alarm{alarm="ledger.unreachable"} 1\n');
        expect(live).toBe(200);
      }
      await eventually(async () => receiver.posts.length >= posted + 2, NOTICED_MS_MAX);
      await database.ways[way].comeBack();
      const logOf = (i: number) => programs[i]!.stderr.slice(before[i]);
      for (const [i, program] of programs.entries()) {
        await eventually(async () => (await readiness(program)).status === 200, NOTICED_MS_MAX);
        await eventually(async () => logOf(i).includes('"event":"alarm is over"'), NOTICED_MS_MAX);
      }
      await eventually(async () => receiver.types(posted).includes('alarm.over'), NOTICED_MS_MAX);
      const raised = receiver.posts.slice(posted).filter(({ type }) => type === 'ledger.unreachable');
      expect(new Set(raised.map(({ id }) => id)).size).toBe(1);
      programs.forEach((_, i) => {
        const lines = logOf(i).trim().split('\n');
        const events = lines.map((line) => JSON.parse(line) as { event: string; seconds?: number });
        expect(events.filter(({ event }) => event === 'alarm')).toHaveLength(1);
        const over = events.filter(({ event }) => event === 'alarm is over');
        expect(over).toHaveLength(1);
        expect(over[0]!.seconds).toBeGreaterThan(1);
        expect(lines.length).toBeLessThan(LINES_MAX);
      });
    },
    120_000,
  );
});

async function readiness(program: Program) {
  const [health, ready, live, metrics] = await Promise.all([
    program.get('/health', ''),
    program.get('/health/ready', ''),
    program.get('/health/live', ''),
    program.metrics(ADMIN_TOKEN),
  ]);
  const body = (await health.json()) as Record<string, unknown>;
  return { status: health.status === ready.status ? health.status : 0, body, metrics, live: live.status };
}
