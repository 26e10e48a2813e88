import { expect, setDefaultTimeout, test } from 'bun:test';
import { Ledger } from '../../../src/ledger/ledger.ts';
import type { RunReport } from '../../../src/ledger/operations/feed-runs.ts';
import { periodOf } from '../../../src/ledger/quota/period.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { EMPTY_RUN } from '../../support/feeds/run-report.ts';
import { newFolder, newLedgerUrl, onEachEngine } from '../../support/ledger.ts';
import { Doctor } from '../../support/monitoring/doctor.ts';
import { openpit } from '../../support/program.ts';

setDefaultTimeout(180_000);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

onEachEngine('openpit doctor on the content of the ledger', (engine) => {
  async function open() {
    const url = await newLedgerUrl(engine);
    const ledger = await Ledger.open(url, systemClock);
    const settings = {
      OPENPIT_DATABASE_URL: engine === 'sqlite' ? `sqlite://${url}` : url,
      OPENPIT_DATA_DIR: newFolder(),
    };
    return { ledger, settings, now: Date.now() };
  }

  test('without accounts, prices and feeds there are warnings and no problems', async () => {
    const { ledger, settings } = await open();
    const doctor = await Doctor.run(settings);
    expect(doctor.complaints).toEqual(['feeds.enabled', 'keys.active']);
    expect(doctor.exitCode).toBe(0);
    await ledger.close();
  });

  test('feeds: late, failing, partial, quarantined and without their API key', async () => {
    const { ledger, settings, now } = await open();
    const { feeds } = ledger;
    const run = async (
      feed: string,
      report: Partial<RunReport>,
      lateAt: number,
      failing: readonly object[] = [],
    ) => {
      const lease = await feeds.take({ feed, holder: 'host/1 x', leaseMs: HOUR, started: now - HOUR });
      await feeds.finish(lease!, {
        ended: now - HOUR,
        nextRun: now + HOUR,
        ...(report.status === 'ok' || report.status === 'partial' ? { lateAt } : {}), // as at the end of a run
        report: { ...EMPTY_RUN, ...report },
        failing: failing as never,
      });
    };
    for (const key of ['fred', 'ecb', 'lbma', 'imf', 'world-bank'])
      await feeds.enable(key, now - DAY, now + DAY);
    await feeds.enable('eia', now - DAY, now + DAY);
    await run('fred', { status: 'ok' }, now - HOUR);
    await run('ecb', { status: 'failed', message: 'the server answered 503' }, now + DAY);
    await run('lbma', { status: 'partial' }, now + DAY, [{ series: 'gold_pm', reason: 'answered 404' }]);
    await run('imf', { status: 'quarantined', message: 'a jump by 100' }, now + DAY);
    await run('world-bank', { status: 'ok' }, now + DAY);
    await ledger.close();
    const doctor = await Doctor.run(settings);
    expect(doctor.exitCode).toBe(1);
    expect(doctor.of('feeds.late')[0]).toMatch(/^problem: feed fred is late since /);
    expect(doctor.of('feeds.failing')[0]).toMatch(
      /^warning: feed ecb has failed once: the server answered 503/,
    );
    expect(doctor.of('feeds.partial')[0]).toMatch(
      /^warning: some series of feed lbma fail: gold_pm \(answered 404\)/,
    );
    expect(doctor.of('feeds.quarantined')[0]).toMatch(
      /^warning: the data of feed imf looks wrong: a jump by 100/,
    );
    expect(doctor.of('feeds.state')[0]).toMatch(/^ok: feed world-bank last succeeded at /);
    expect(doctor.of('feeds.key')).toEqual([
      expect.stringMatching(
        /^problem: feed eia is enabled and requires OPENPIT_EIA_API_KEY → .*set OPENPIT_EIA_API_KEY/,
      ),
    ]);
    const withKey = await Doctor.run({ ...settings, OPENPIT_EIA_API_KEY: 'a key' });
    expect(withKey.of('feeds.key')).toEqual([]);
  });

  test('accounts: without a valid key, over quota, with expiring keys; plans without accounts', async () => {
    const { ledger, settings, now } = await open();
    const create = async (name: string, plan: string) => {
      const { stdout } = await openpit(
        ['account', 'create', '--name', name, '--plan', plan, '--json'],
        settings,
      );
      return JSON.parse(stdout) as { account: string; keyId: string };
    };
    await openpit(['plan', 'set', 'tiny', '--quota', '10'], settings);
    await openpit(['plan', 'set', 'nobody', '--quota', '10'], settings);
    const [good, revoked, expired, greedy] = await Promise.all([
      create('Good', 'basic'),
      create('Revoked', 'basic'),
      create('Expired', 'basic'),
      create('Greedy', 'tiny'),
    ]);
    await openpit(['key', 'revoke', revoked.keyId], settings);
    await ledger.engine.write(async (tx) => {
      await tx`UPDATE api_key SET expires_at = ${now - DAY} WHERE id = ${expired.keyId}`;
      await tx`UPDATE api_key SET expires_at = ${now + 3 * DAY} WHERE id = ${good.keyId}`;
      await tx`INSERT INTO quota_period (account_id, period, granted, used, barrier, recall_at, signalled_at, notified)
        VALUES (${greedy.account}, ${periodOf(now)}, 10, 10, 0, 0, 0, 0)`;
      for (const percent of [75, 90]) {
        await tx`INSERT INTO quota_event (account_id, period, percent, used, quota, at, attempts)
          VALUES (${greedy.account}, ${periodOf(now)}, ${percent}, 9, 10, ${now}, 4)`;
      }
    });
    await ledger.close();
    const doctor = await Doctor.run({ ...settings, OPENPIT_PUBLIC_PLAN: 'gone' });
    expect(doctor.of('keys.active')[0]).toBe('ok: 2 valid keys of 4 accounts');
    const without = doctor.of('keys.expired')[0]!;
    expect(without).toMatch(/^warning: 2 active accounts without a valid key/);
    expect([without.includes(revoked.account), without.includes(expired.account)]).toEqual([true, true]);
    expect(doctor.of('keys.expiring')[0]).toContain(good.keyId);
    expect(doctor.of('accounts.over_quota')[0]).toMatch(
      new RegExp(`^warning: 1 account over this month's quota: ${greedy.account}`),
    );
    expect(doctor.of('accounts.unused_plans')[0]).toMatch(/^warning: plans without accounts: nobody →/);
    expect(doctor.of('accounts.public_plan')[0]).toMatch(/^problem: OPENPIT_PUBLIC_PLAN is gone/);
    expect(doctor.of('accounts.webhook')[0]).toMatch(/^problem: the webhook has not accepted 2 quota events/);
  });

  test('processes: alarms are problems; a silent process and another version are warnings', async () => {
    const { ledger, settings } = await open();
    const beat = { phase: 'ready', revision: 1 };
    const event = { type: 'feeds.failing', reason: 'no room' };
    const alarms = [{ name: 'feeds.failing', event }];
    await ledger.replicas.beat({ ...beat, id: 'a', name: 'one/1', version: '0.0.1', alarms });
    await ledger.replicas.beat({ ...beat, id: 'b', name: 'two/2', version: '0.0.1' });
    await ledger.engine.write(async (tx) => {
      await tx`UPDATE replica SET seen = seen - 60000 WHERE id = 'b'`;
    });
    await ledger.close();
    const doctor = await Doctor.run(settings);
    expect(doctor.of('processes.alarm')[0]).toMatch(
      /^problem: alarm feeds\.failing in one\/1: reason no room/,
    );
    expect(doctor.of('processes.silent')[0]).toMatch(/^warning: the process two\/2 died/);
    expect(doctor.of('processes.version')[0]).toMatch(
      /^warning: this program is .*, but processes of 0\.0\.1 are running/,
    );
  });
});
