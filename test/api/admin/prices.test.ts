import { expect, test } from 'bun:test';
import { apiOn, expectRefusal, type Json, type Reply } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { OPERATOR_HEADERS, OPERATOR_SETTINGS, operatorOf } from '../../support/operator.ts';
import { NOON } from '../../support/service.ts';

onEachEngine('prices by hand', (engine) => {
  const api = apiOn(engine, { settings: OPERATOR_SETTINGS });
  const send = operatorOf(api);
  const upload = (query: string, content: string | Uint8Array): Promise<Reply> =>
    api.ask(`/admin/imports?${query}`, {
      method: 'POST',
      key: '',
      headers: { ...OPERATOR_HEADERS, 'content-type': 'application/octet-stream' },
      body: content as string,
    });
  const closeOn = async (symbol: string, date: string) => {
    await api.service.core.follow();
    const { status, body } = await api.ask(`/rates/historical?symbols=${symbol}&date=${date}`);
    const rate = (body.rates as Record<string, { close: number }> | undefined)?.[symbol];
    return status === 200 ? rate?.close : undefined;
  };
  const newestEntry = async () => ((await send('GET', '/admin/audit?limit=1')).body.entries as Json[])[0];

  test('a preview says what would become of each row and writes nothing', async () => {
    const csv = 'date,close\n2024-05-08,2308.5\n2024-05-09,\n2024-05-10,not a price\n2024-05-13,2336\n';
    const { status, body } = await upload('symbol=XAU&dryRun=true&file=gold.csv', csv);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      dryRun: true,
      symbols: ['XAU'],
      run: null,
      taken: 2,
      missing: 1,
      refused: 1,
      refusedLines: [{ line: 4 }],
    });
    expect(body.bars).toMatchObject([
      { symbol: 'XAU', date: '2024-05-08', close: 2308.5, line: 2, outcome: 'taken' },
      { symbol: 'XAU', date: '2024-05-13', outcome: 'taken' },
    ]);
    expect(await closeOn('XAU', '2024-05-13')).toBeUndefined();
    expect((await send('GET', '/admin/imports')).body.imports).toEqual([]);
  });

  test('a flag that is neither true nor false is refused, so that no preview is an import', async () => {
    const csv = 'date,close\n2024-05-08,30.5\n';
    expect((await upload('symbol=BUTTER&dryRun=True', csv)).body).toMatchObject({ dryRun: true, run: null });
    for (const flag of ['dryRun=1', 'dryRun=yes', 'dryRun', 'dryRun=', 'accept=1']) {
      const message = expectRefusal(await upload(`symbol=BUTTER&${flag}`, csv), 400, 'invalid_parameter');
      expect(message).toContain('must be true or false');
    }
    expectRefusal(await send('GET', '/admin/quarantine?all=1'), 400, 'invalid_parameter');
    expectRefusal(await send('POST', '/admin/bars?accept=1', [{}]), 400, 'invalid_parameter');
    expect((await send('GET', '/admin/imports')).body.imports).toEqual([]);
  });

  test('a change with a parameter that it does not have is refused, and the right one is named', async () => {
    const csv = 'date,close\n2024-05-08,30.5\n';
    for (const name of ['dry-run', 'dryrun', 'dry_run', 'dryRunn']) {
      const reply = await upload(`symbol=BUTTER&${name}=true`, csv);
      const message = expectRefusal(reply, 400, 'invalid_parameter');
      expect(message).toBe(`There is no parameter "${name}" here. Did you mean dryRun?`);
    }
    const other = await upload('symbol=BUTTER&column=2', csv);
    expect(expectRefusal(other, 400, 'invalid_parameter')).toContain(
      'The parameters are symbol, symbolColumn,',
    );
    const none = await send('POST', '/admin/imports/1/undo?dryRun=true', {});
    expect(expectRefusal(none, 400, 'invalid_parameter')).toContain('There are none.');
    expect((await send('GET', '/admin/imports?_=1')).body.imports).toEqual([]);
  });

  test('a source or a file name with a control character is refused', async () => {
    for (const query of ['source=a%00b', 'file=a%1Bb'])
      expectRefusal(
        await upload(`symbol=BUTTER&${query}`, 'date,close\n2024-05-08,30.5\n'),
        400,
        'invalid_parameter',
      );
  });

  test('a code that is not known is named with its line, in one sentence', async () => {
    const { body } = await upload('symbolColumn=code', 'code,date,close\nXAUU,2024-05-08,1\n');
    expect(body.message).toEndWith(
      'line 2: there is no symbol XAUU. Did you mean XAU, ALU, XAG? openpit symbols list shows all.',
    );
  });

  test('an upload is served, listed, audited, and can be undone once', async () => {
    const csv = 'code;date;close\nXAG;18.04.2024;27,31\nXAG;09.05.2024;28,35\nXPT;09.05.2024;985\n';
    const { body } = await upload('symbolColumn=code&source=desk&file=metals.csv', Bun.gzipSync(csv));
    expect(body).toMatchObject({ dryRun: false, taken: 3, source: 'desk' });
    expect(body.run).toBeNumber();
    expect(await closeOn('XAG', '2024-05-09')).toBe(28.35);
    expect(await newestEntry()).toMatchObject({
      action: 'import.start',
      actor: 'operator',
      details: { file: 'metals.csv', source: 'desk' },
    });
    expect((await send('GET', '/admin/imports?limit=1')).body.imports).toMatchObject([
      { number: body.run, file: 'metals.csv', taken: 3, undoneAt: null },
    ]);
    const undone = await send('POST', `/admin/imports/${body.run}/undo`, {});
    expect(undone.body).toMatchObject({ withdrawn: 3, restored: 0, kept: 0 });
    expect(await closeOn('XAG', '2024-05-09')).toBeUndefined();
    expectRefusal(await send('POST', `/admin/imports/${body.run}/undo`, {}), 409, 'conflict');
    expectRefusal(await send('POST', '/admin/imports/999/undo', {}), 404, 'not_there');
  });

  test('a file that cannot be read is refused with the reason, and names parameters instead of options', async () => {
    const ambiguous = await upload('symbol=XAU', 'date,close\n03/04/2024,1\n05/06/2024,2\n');
    expectRefusal(ambiguous, 400, 'invalid_file');
    expect(ambiguous.text).toContain('dateOrder');
    expect(ambiguous.text).not.toContain('--date-order');
    expectRefusal(await upload('symbol=NOPE', 'date,close\n2024-05-08,1\n'), 400, 'invalid_file');
    expectRefusal(await upload('symbol=XAU', ''), 400, 'invalid_file');
    expectRefusal(await upload('', 'date,close\n2024-05-08,1\n'), 400, 'missing_parameter');
    const both = await upload('symbol=XAU&valueColumn=close&ohlcColumns=a,b,c,d', 'x');
    expect(expectRefusal(both, 400, 'invalid_parameter')).toContain('must be absent with valueColumn');
    for (const source of ['simulated', 'operator'])
      expectRefusal(await upload(`symbol=XAU&source=${source}`, 'x'), 400, 'invalid_parameter');
    expectRefusal(await send('POST', '/admin/bars?source=operator', [{}]), 400, 'invalid_body');
    const long = await upload(`symbol=XAU&source=${'x'.repeat(65)}`, 'x');
    expect(expectRefusal(long, 400, 'invalid_parameter')).toContain('a name of at most 64 characters');
    expectRefusal(await upload('symbol=XAU&zone=Nowhere', 'x'), 400, 'invalid_parameter');
    expect((await upload('symbol=XAU', 'x'.repeat(1024 * 1024 + 1))).status).toBe(413);
  });

  test('a bar can be corrected, withdrawn, and both can be taken back', async () => {
    await upload('symbol=XPD', 'date,close\n2024-05-08,950\n2024-05-09,960\n');
    const prices = { open: 955, high: 970, low: 950, close: 966 };
    const correction = { symbol: 'XPD', date: '2024-05-09', ...prices, reason: 'typing error' };
    const corrected = await send('POST', '/admin/bars/correct', correction);
    expect(corrected.body).toMatchObject({ changed: true, before: { close: 960 } });
    expect(await closeOn('XPD', '2024-05-09')).toBe(966);
    const range = { symbol: 'XPD', startDate: '2024-05-08', endDate: '2024-05-09', reason: 'wrong' };
    const withdrawn = await send('POST', '/admin/bars/withdraw', range);
    expect(withdrawn.body.days).toEqual(['2024-05-08', '2024-05-09']);
    expect(await closeOn('XPD', '2024-05-09')).toBeUndefined();
    expect(await newestEntry()).toMatchObject({
      action: 'bars.withdraw',
      target: 'PA',
      details: { reason: 'wrong' },
    });
    const back = { ...range, reason: 'they were right' };
    expect((await send('POST', '/admin/bars/revert', back)).body.days).toHaveLength(2);
    expect(await closeOn('XPD', '2024-05-08')).toBe(950);
    expect(await closeOn('XPD', '2024-05-09')).toBe(966);
    expect((await send('POST', '/admin/bars/revert', back)).body.days).toEqual(['2024-05-09']);
    expect(await closeOn('XPD', '2024-05-09')).toBe(960);
    expect((await send('POST', '/admin/bars/revert', back)).body.days).toEqual([]);
  });

  test('a revert of one withdrawal leaves what was withdrawn before it', async () => {
    await upload('symbol=PL', 'date,close\n2024-05-06,950\n2024-05-07,960\n');
    const withdraw = async (startDate: string, endDate: string) => {
      api.service.clock.time += 1_000;
      const range = { symbol: 'PL', startDate, endDate, reason: 'wrong' };
      return (await send('POST', '/admin/bars/withdraw', range)).body;
    };
    await withdraw('2024-05-06', '2024-05-06');
    const { days, recordedAt } = await withdraw('2024-05-06', '2024-05-07');
    expect(days).toEqual(['2024-05-07']);
    const range = { symbol: 'PL', startDate: '2024-05-06', endDate: '2024-05-07', reason: 'it was right' };
    const reverted = await send('POST', '/admin/bars/revert', { ...range, recordedAt });
    expect(reverted.body.days).toEqual(['2024-05-07']);
    expect(await closeOn('PL', '2024-05-07')).toBe(960);
    expect((await send('POST', '/admin/bars/revert', range)).body.days).toEqual(['2024-05-06']);
  });

  test('a correction of a day without a price is withdrawn when it is taken back', async () => {
    const day = { symbol: 'XAU', reason: 'test' };
    const flat = { open: 1, high: 1, low: 1, close: 1 };
    await send('POST', '/admin/bars/correct', { ...day, ...flat, date: '2020-01-02' });
    expect(await closeOn('XAU', '2020-01-02')).toBe(1);
    await send('POST', '/admin/bars/revert', { ...day, startDate: '2020-01-02' });
    expect(await closeOn('XAU', '2020-01-02')).toBeUndefined();
  });

  test('a correction follows the rules of a push: 15 significant digits, and 0 only where it can be a price', async () => {
    const correct = (symbol: string, price: number | string) => {
      const flat = { open: price, high: price, low: price, close: price };
      return send('POST', '/admin/bars/correct', { symbol, date: '2024-05-07', ...flat, reason: 'test' });
    };
    await correct('XPD', 0.1 + 0.2);
    expect(await closeOn('XPD', '2024-05-07')).toBe(0.3);
    await correct('XPD', '950.50');
    expect(await closeOn('XPD', '2024-05-07')).toBe(950.5);
    expect((await correct('XPD', 950.5)).body).toMatchObject({ changed: false });
    const refused = await correct('XPD', 0);
    expect(expectRefusal(refused, 400, 'invalid_body')).toContain('0 is not a price');
    expect(await closeOn('XPD', '2024-05-07')).toBe(950.5);
    expect((await correct('TTF-GAS', -0)).body).toMatchObject({ changed: true });
    expect(await closeOn('TTF-GAS', '2024-05-07')).toBe(0);
  });

  test('a day after the symbol’s trade date is refused in a push, an import and a correction', async () => {
    const { service } = api;
    const day = (symbol: string, date: string) => ({ symbol, date, price: 31 });
    const push = async (...bars: Json[]) => (await send('POST', '/admin/bars', bars)).body.results;
    const future = (date: string, today: string) => ({
      status: 'refused',
      reason: `date: ${date} is in the future (the current trade date is ${today})`,
    });
    const correct = (symbol: string, date: string) => {
      const flat = { open: 31, high: 31, low: 31, close: 31 };
      return send('POST', '/admin/bars/correct', { symbol, date, ...flat, reason: 'x' });
    };
    // Noon in New York
    expect(await push(day('XAG', '2024-05-16'))).toEqual([future('2024-05-16', '2024-05-15')]);
    expect(expectRefusal(await correct('XAG', '2024-05-16'), 400, 'invalid_body')).toContain('in the future');
    const csv = 'code,date,close\nXAG,2024-05-15,28\nXAG,2024-05-16,28\nEUR/CHF,2024-05-16,1\n';
    expect((await upload('symbolColumn=code', csv)).body).toMatchObject({
      taken: 1,
      refusedLines: [
        { line: 3, reason: '2024-05-16 is in the future (the current trade date is 2024-05-15)' },
        { line: 4, reason: expect.stringContaining('in the future') },
      ],
    });
    service.clock.time = Date.parse('2024-05-15T22:00:00Z'); // silver trades for tomorrow, aluminium in London does not
    expect(await push(day('XAG', '2024-05-16'), day('AL-SPOT', '2024-05-16'))).toEqual([
      { status: 'accepted' },
      future('2024-05-16', '2024-05-15'),
    ]);
    expect((await correct('XAG', '2024-05-16')).status).toBe(200);
    service.clock.time = NOON;
  });

  test('an exchange rate is imported for a currency of ISO 4217 or of a symbol, and for no other code', async () => {
    const csv = 'date,close\n2024-05-08,0.00001\n';
    const preview = (currency: string) => upload(`symbol=EUR/${currency}&dryRun=true`, csv);
    expect((await preview('SEK')).body).toMatchObject({ taken: 1 });
    expect((await preview('DEM')).body).toMatchObject({ taken: 1 }); // a former one
    for (const code of ['XYZ', 'XXX', 'BTC'])
      expect(expectRefusal(await preview(code), 400, 'invalid_file')).toContain(`EUR/${code}: "${code}" is`);
    const symbol = {
      name: 'Hashrate',
      category: 'Energy',
      currency: { code: 'BTC', name: 'Bitcoin', symbol: '₿' },
      unit: { symbol: 'EH', name: 'Exahash' },
      market: 'SPOT',
      decimals: 8,
      updateInterval: 'day',
    };
    expect((await send('PUT', '/admin/symbols/HASHRATE', symbol)).status).toBe(200);
    expect((await preview('BTC')).body).toMatchObject({ taken: 1 });
  });

  test('a change that makes no sense is refused', async () => {
    const flat = { open: 1, high: 1, low: 1, close: 1 };
    const base = { symbol: 'XAU', date: '2024-05-09', ...flat, reason: 'x' };
    const correct = (change: Json) => send('POST', '/admin/bars/correct', { ...base, ...change });
    expectRefusal(await correct({ high: 0 }), 400, 'invalid_body');
    expectRefusal(await correct({ date: '2099-01-01' }), 400, 'invalid_body');
    expectRefusal(await correct({ reason: '' }), 400, 'invalid_body');
    expectRefusal(await correct({ symbol: 'NOPE' }), 404, 'not_there');
    const range = { symbol: 'XAU', startDate: '2024-05-09', endDate: '2024-05-01', reason: 'x' };
    expectRefusal(await send('POST', '/admin/bars/withdraw', range), 400, 'invalid_body');
    for (const path of ['/admin/bars/withdraw', '/admin/bars/correct', '/admin/imports'])
      expect((await api.ask(path, { method: 'POST', key: '', body: '{}' })).status).toBe(401);
  });
});
