import { expect, test } from 'bun:test';
import { apiOn, expectRefusal, type Json } from '../../support/api.ts';
import { statementsOf } from '../../support/database/statements.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { OPERATOR_SETTINGS, OPERATOR_TOKEN, operatorOf } from '../../support/operator.ts';
import { eventually } from '../../support/program.ts';

onEachEngine('operator endpoints', (engine) => {
  const api = apiOn(engine, { settings: OPERATOR_SETTINGS });
  const send = operatorOf(api);
  const newAccount = async (plan = 'basic') => {
    const { body } = await send('POST', '/admin/accounts', { name: 'Acme', plan });
    return {
      id: (body.account as Json).id as string,
      key: body.apiKey as string,
      keyId: (body.key as Json).id,
    };
  };

  test('a new account has a working key, is found by search, and is shown with its keys and usage', async () => {
    const { id, key, keyId } = await newAccount();
    await api.ask('/symbols', { key });
    // Makes the meter report its count to the ledger. It does not wait for long, so a busy machine needs a second try.
    await eventually(async () =>
      (await api.ask('/usage/daily', { key })).text.includes('"endpoint":"symbols"'),
    );
    const { accounts } = (await send('GET', `/admin/accounts?search=${id}`)).body as { accounts: Json[] };
    expect(accounts).toMatchObject([
      { id, name: 'Acme', plan: 'basic', status: 'active', used: 1, quota: 10_000 },
    ]);
    await api.service.core.keyUses.flush();
    const one = (await send('GET', `/admin/accounts/${id}`)).body as Record<string, Json[]>;
    expect(one.keys).toHaveLength(1);
    expect(one.days).toMatchObject([{ endpoint: 'symbols', count: 1 }]);
    expect(one.byKey).toMatchObject([{ key: keyId, endpoint: 'symbols', count: 1 }]);
    expect(one.events).toEqual([]);
  });

  test('a long list comes in pages, and says so', async () => {
    for (let n = 1; n <= 5; n++) await send('POST', '/admin/accounts', { name: `Paged ${n}`, plan: 'basic' });
    const names: unknown[] = [];
    let path: unknown = '/admin/accounts?search=paged&limit=2';
    for (let pages = 1; path !== null; pages++) {
      const { accounts, next } = (await send('GET', String(path))).body as {
        accounts: Json[];
        next: unknown;
      };
      names.push(...accounts.map(({ name }) => name));
      path = next;
      expect(pages).toBeLessThanOrEqual(3);
    }
    expect(names.sort()).toEqual([1, 2, 3, 4, 5].map((n) => `Paged ${n}`));
    expectRefusal(await send('GET', '/admin/accounts?after=none'), 404, 'not_there');
    expectRefusal(await send('GET', '/admin/accounts?limit=0'), 400, 'invalid_parameter');
  });

  test('the usage of all accounts of a page is read at once', async () => {
    for (let n = 1; n <= 3; n++) await newAccount();
    const statements = await statementsOf(api.service.ledger, () => send('GET', '/admin/accounts'));
    const reads = statements.filter(({ text }) => text.includes('quota_period'));
    expect(reads.reduce((sum, { uses }) => sum + uses, 0)).toBeLessThanOrEqual(1);
  });

  test('a search has no wildcards', async () => {
    await send('POST', '/admin/accounts', { name: '100 % Gold_Mine\\', plan: 'basic' });
    const found = async (path: string, list: string) =>
      ((await send('GET', path)).body[list] as Json[]).length;
    for (const text of ['%', 'd_m', '\\']) {
      expect(await found(`/admin/accounts?search=${encodeURIComponent(text)}`, 'accounts'), text).toBe(1);
      expect(await found(`/admin/audit?search=${encodeURIComponent(text)}`, 'entries'), text).toBe(0);
    }
  });

  test('an account is found by its name in any script', async () => {
    const { account } = (await send('POST', '/admin/accounts', { name: 'Ölmühle Łódź', plan: 'free' })).body;
    const found = async (text: string) =>
      (await send('GET', `/admin/accounts?search=${encodeURIComponent(text)}`)).body.accounts;
    const { id } = account as Json;
    expect(await found('Ölmühle')).toMatchObject([{ id }]);
    expect(await found('Łódź')).toMatchObject([{ id }]);
  });

  test('suspending, resuming and changing the plan take effect at once', async () => {
    const { id, key } = await newAccount();
    await send('PATCH', `/admin/accounts/${id}`, { status: 'suspended' });
    await api.service.core.follow();
    expectRefusal(await api.ask('/account', { key }), 403, 'account_suspended');
    await send('PATCH', `/admin/accounts/${id}`, { status: 'active', plan: 'pro' });
    await api.service.core.follow();
    expect((await api.ask('/account', { key })).body.plan).toMatchObject({ name: 'pro' });
  });

  test('keys can be created, rotated and revoked', async () => {
    const { id, keyId } = await newAccount();
    const made = await send('POST', `/admin/accounts/${id}/keys`, { headerOnly: true });
    expect(made.body.key).toMatchObject({ headerOnly: true, status: 'active' });
    const rotated = await send('POST', `/admin/keys/${keyId}/rotate`, {});
    expect((await api.ask('/account', { key: String(rotated.body.apiKey) })).status).toBe(200);
    expect((await send('DELETE', `/admin/keys/${keyId}`)).body.revoked).toBe(true);
    expectRefusal(await send('POST', `/admin/keys/${keyId}/rotate`, {}), 409, 'conflict');
    expectRefusal(await send('DELETE', '/admin/keys/key_none'), 404, 'not_there');
    expectRefusal(await send('POST', `/admin/accounts/${id}/keys`, { expiresAt: 1 }), 400, 'invalid_body');
  });

  test('plans can be listed, created, changed in part, and deleted when unused', async () => {
    const made = await send('PUT', '/admin/plans/gold', { quota: 5 });
    expect(made.body.plan).toMatchObject({ name: 'gold', quota: 5, maxSpanDays: null });
    const changed = await send('PUT', '/admin/plans/gold', { delaySeconds: 60 });
    expect(changed.body.plan).toMatchObject({ quota: 5, delaySeconds: 60 });
    await newAccount('gold');
    expectRefusal(await send('DELETE', '/admin/plans/gold'), 409, 'conflict');
    await send('PUT', '/admin/plans/spare', {});
    expect((await send('DELETE', '/admin/plans/spare')).body.deleted).toBe(true);
    expectRefusal(await send('DELETE', '/admin/plans/spare'), 404, 'not_there');
    expectRefusal(await send('PUT', '/admin/plans/No%20Name', {}), 400, 'invalid_body');
    expectRefusal(await send('PUT', '/admin/plans/gold', { quota: -1 }), 400, 'invalid_body');
  });

  test('replicas: this process has followed the ledger, and holds its leased units', async () => {
    const { key } = await newAccount();
    await api.ask('/symbols', { key });
    const { answering, holders } = (await send('GET', '/admin/replicas')).body as {
      answering: Json;
      holders: Json[];
    };
    expect(answering).toMatchObject({ phase: 'ready', engine, behind: 0, simulated: false });
    expect(holders.length).toBeGreaterThanOrEqual(1);
  });

  test('replicas: every process is listed with its lag, and a silent one is assumed to have stopped at its last report', async () => {
    const { ledger } = api.service;
    const beat = { name: 'host/1', version: '1.0.0', phase: 'ready' };
    const { prices } = await ledger.head();
    await ledger.replicas.beat({ ...beat, id: 'follows', revision: prices });
    await ledger.replicas.beat({ ...beat, id: 'lags', revision: prices - 1 });
    await ledger.replicas.beat({ ...beat, id: 'died', revision: prices });
    await ledger.engine.write(async (tx) => {
      await tx`UPDATE replica SET seen = seen - 20000 WHERE id = 'died'`;
    });
    await api.service.publish('XAU', { '2024-05-14': 2_350 });
    const { replicas, newestRevision, answering } = (await send('GET', '/admin/replicas')).body as {
      replicas: Json[];
      newestRevision: number;
      answering: Json;
    };
    expect(newestRevision).toBe(prices + 1);
    const byId = (id: string) => replicas.find((one) => one.id === id);
    expect(byId('follows')).toMatchObject({ phase: 'ready', behind: 0, revision: prices });
    expect(byId('lags')).toMatchObject({ phase: 'ready', behind: 1 });
    expect(byId('died')).toMatchObject({ phase: 'silent', behind: 1 });
    expect(Number(byId('died')!.silentSeconds)).toBeGreaterThanOrEqual(20);
    expect(answering.id).toBe(api.service.core.replica);
  });

  test('replicas: each is listed with the quota units it holds', async () => {
    const { core, ledger } = api.service;
    const beat = { id: core.replica, name: 'host/2', version: '1.0.0', phase: 'ready', revision: 1 };
    await ledger.replicas.beat(beat);
    const { key } = await newAccount();
    await api.ask('/symbols', { key });
    const { replicas } = (await send('GET', '/admin/replicas')).body as { replicas: Json[] };
    const own = replicas.find((one) => one.id === core.replica)!;
    expect(Number(own.accounts)).toBeGreaterThanOrEqual(1);
    expect(Number(own.units)).toBeGreaterThanOrEqual(1);
  });

  test('scripts of other sites cannot read the responses', async () => {
    const reply = await send('GET', '/admin/plans');
    expect(reply.headers.get('access-control-allow-origin')).toBeNull();
    expect(reply.headers.get('cache-control')).toBe('no-store');
  });

  test('with If-None-Match: *, a plan, a formula or a symbol is created, but never replaced', async () => {
    const listed = async (list: string) => (await send('GET', `/admin/${list}`)).body[list] as Json[];
    const { real: _, ...gold } = (await listed('symbols')).find(({ code }) => code === 'XAU')!;
    const { code: __, ...symbol } = gold;
    const definitions: [path: string, body: object, other: object][] = [
      ['plans/only-new', { quota: 5 }, { quota: 6 }],
      ['formulas/ONLY-NEW', { name: 'A', expression: '{XAU}/{XAG}' }, { name: 'B', expression: '{XAU}' }],
      ['symbols/NEW-GOLD', { ...symbol, aliases: [] }, { ...symbol, name: 'Other', aliases: [] }],
    ];
    const onlyNew = { 'if-none-match': '*' };
    for (const [path, body, other] of definitions) {
      const [list = ''] = path.split('/');
      const attempts = await Promise.all(
        [body, other].map((one) => send('PUT', `/admin/${path}`, one, onlyNew)),
      );
      expect(attempts.map(({ status }) => status).toSorted(), path).toEqual([200, 412]);
      const before = await listed(list);
      const refused = await send('PUT', `/admin/${path}`, other, onlyNew);
      expectRefusal(refused, 412, 'already_exists');
      expect(await listed(list), path).toEqual(before);
      expect((await send('PUT', `/admin/${path}`, other)).status, path).toBe(200);
    }
  });

  test('unknown accounts and plans, and empty names, are refused', async () => {
    expectRefusal(await send('POST', '/admin/accounts', { name: 'X', plan: 'none' }), 404, 'not_there');
    expectRefusal(await send('POST', '/admin/accounts', { name: ' ', plan: 'basic' }), 400, 'invalid_body');
    expectRefusal(await send('GET', '/admin/accounts/acc_none'), 404, 'not_there');
    expectRefusal(await send('POST', '/admin/accounts/acc_none/keys', {}), 404, 'not_there');
  });
});

onEachEngine('a wrong admin token', (engine) => {
  const settings = { ...OPERATOR_SETTINGS, OPENPIT_FAILED_KEYS_PER_MINUTE: '5' };
  const api = apiOn(engine, { settings });

  test('is refused, and rate-limited after five in a minute; the right one still passes', async () => {
    const ask = (token: string) =>
      api.ask('/admin/plans', { key: '', headers: { authorization: `Bearer ${token}` } });
    expectRefusal(await api.ask('/admin/plans', { key: '' }), 401, 'invalid_admin_token');
    for (let i = 0; i < 5; i++) expectRefusal(await ask(`wrong ${i}`), 401, 'invalid_admin_token');
    expectRefusal(await ask('wrong'), 429, 'rate_limited');
    expect((await ask(OPERATOR_TOKEN)).status).toBe(200);
  });
});

onEachEngine('without an admin token', (engine) => {
  const api = apiOn(engine);

  test('there are no operator endpoints', async () => {
    for (const path of ['/admin/accounts', '/admin/plans', '/admin/replicas', '/admin/keys/key_1']) {
      expectRefusal(await api.ask(path), 404, 'not_found');
    }
  });
});
