import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { apiOn, expectRefusal, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { OPERATOR_SETTINGS, operatorOf } from '../../support/operator.ts';

const SECRET = 'whsec_GTabceBwgx3cw+JIpfo6OHi6JO8s8i6W';

onEachEngine('maintenance by the operator', (engine) => {
  const api = apiOn(engine, {
    settings: { ...OPERATOR_SETTINGS, OPENPIT_WEBHOOK_SECRET: SECRET },
  });
  const send = operatorOf(api);
  const actions = async () =>
    ((await send('GET', '/admin/audit?limit=100')).body.entries as Json[]).map(({ action }) => action);

  test('a backup of SQLite is a file on the server, listed and deletable; PostgreSQL says what to use', async () => {
    const made = await send('POST', '/admin/backups', {});
    if (engine === 'postgres') {
      expectRefusal(made, 409, 'conflict');
      expect(made.text).toContain('pg_dump');
      return;
    }
    const { name } = made.body.backup as { name: string };
    expect((await send('GET', '/admin/backups')).body.backups).toEqual([made.body.backup]);
    const file = join(api.service.config.dataDir, 'backups', name);
    expect(existsSync(file)).toBe(true);
    expectRefusal(await send('DELETE', '/admin/backups/..%2Fopenpit.db'), 404, 'not_there');
    expect((await send('DELETE', `/admin/backups/${name}`)).body).toMatchObject({ deleted: true });
    expect(existsSync(file)).toBe(false);
    expect(await actions()).toEqual(expect.arrayContaining(['backup.create', 'backup.delete']));
  });

  test('the check says that all counts add up, or what does not', async () => {
    expect((await send('POST', '/admin/check', {})).body).toMatchObject({ ok: true, wrong: [] });
    const { engine: sql } = api.service.ledger;
    await sql.write(
      (
        tx,
      ) => tx`INSERT INTO quota_period (account_id, period, granted, used, barrier, recall_at, signalled_at, notified)
      VALUES ('acc_x', 202401, 1, 5, 0, 0, 0, 0)`,
    );
    const { body } = await send('POST', '/admin/check', {});
    expect(body.ok).toBe(false);
    expect((body.wrong as string[]).join()).toContain('acc_x');
  });

  test('the doctor checks the running service and reports what openpit doctor reports', async () => {
    const { body } = await send('POST', '/admin/doctor', {});
    const findings = body.findings as { check: string; status: string }[];
    const checks = findings.map(({ check }) => check);
    expect(checks).toEqual(
      expect.arrayContaining(['ledger.schema', 'disk.room', 'limits.memory', 'processes.live', 'disk.spool']),
    );
    expect(checks.filter((check) => check.endsWith('.unchecked'))).toEqual([]);
    expect(body.ok).toBe(!findings.some(({ status }) => status === 'problem'));
  });

  test('the webhook secret is shown on request, which leaves an entry without the secret', async () => {
    expect((await send('POST', '/admin/webhook-secret', {})).body.secret).toBe(SECRET);
    const log = await send('GET', '/admin/audit?search=webhook');
    expect(log.body.entries).toMatchObject([{ action: 'webhook.show-secret' }]);
    expect(log.text).not.toContain(SECRET);
  });

  test('a run of a feed can be requested, with or without accepting doubtful prices', async () => {
    expect((await send('POST', '/admin/feeds/ecb/run', {})).body).toMatchObject({ requested: true });
    expect((await send('POST', '/admin/feeds/lbma/run', { accept: true })).status).toBe(200);
    const { feeds } = api.service.ledger;
    expect(Object.fromEntries(await feeds.requestedRuns())).toEqual({
      ecb: { accept: false },
      lbma: { accept: true },
    });
    expectRefusal(await send('POST', '/admin/feeds/none/run', {}), 404, 'not_there');
  });

  test('symbols can be defined, changed and listed', async () => {
    const symbol = {
      name: 'Olive Oil',
      category: 'Agriculture',
      currency: { code: 'EUR', name: 'Euro', symbol: '€' },
      unit: { symbol: 't', name: 'Metric Ton' },
      market: 'SPOT',
      decimals: 2,
      updateInterval: 'day',
    };
    const path = '/admin/symbols/TEST-OIL';
    const made = await send('PUT', path, { ...symbol, aliases: ['TESTOIL'] });
    expect(made.body).toMatchObject({ created: true, symbol: { code: 'TEST-OIL', ...symbol } });
    expect((await send('PUT', path, { ...symbol, name: 'Olive oil' })).body.created).toBe(false);
    const { symbols } = (await send('GET', '/admin/symbols')).body as { symbols: Json[] };
    expect(symbols.find(({ code }) => code === 'TEST-OIL')).toMatchObject({
      name: 'Olive oil',
      aliases: ['TESTOIL'],
      real: false,
    });
    expectRefusal(await send('PUT', '/admin/symbols/bad%20code', symbol), 400, 'invalid_body');
    expectRefusal(await send('PUT', path, { ...symbol, market: 'MOON' }), 400, 'invalid_body');
    expectRefusal(await send('PUT', path, { ...symbol, aliases: ['XAU'] }), 409, 'conflict');
  });

  test('traffic is counted by minute, without the operator’s own requests', async () => {
    const { clock, core } = api.service;
    core.api.traffic.sample();
    clock.time += 60_000;
    await api.ask('/account');
    await api.ask('/rates/latest?symbols=NOPE');
    await send('GET', '/admin/plans');
    const { body } = await send('GET', '/admin/traffic');
    expect(body.processes).toBe(1);
    const minutes = body.minutes as Json[];
    expect(minutes.at(-1)).toMatchObject({ requests: 2, refused: 1, failed: 0 });
    expect(minutes.at(-1)!.p99Ms).toBeGreaterThan(0);
  });
});
