import { expect, test } from 'bun:test';
import { apiOn, expectRefusal } from '../support/api.ts';
import { onEachEngine } from '../support/ledger.ts';

/** Above this price, the value of the formula exceeds the largest one, so whether it has one tells which of them is higher. */
const tooLargeAbove = (price: number) =>
  encodeURIComponent(`{XAU}/${price}${'*100000000000000'.repeat(7)}*100`);

const PATHS = [
  '/rates/latest?symbols=',
  '/rates/historical?date=2024-05-14&symbols=',
  '/rates/fluctuation?startDate=2024-05-13&endDate=2024-05-14&symbols=',
  '/rates/statistics?startDate=2024-05-13&endDate=2024-05-14&symbols=',
];

onEachEngine('whether a formula has a value, which depends on prices, is not free to know', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-13': 2358.2, '2024-05-14': 2358.2 });
    await service.setPlan({ name: 'spent', quota: 0 });
  });
  const used = async (key: string) => (await api.ask('/usage', { key })).body.used;

  for (const path of PATHS) {
    const [without, having] = [2358.1, 2358.2].map((price) => path + tooLargeAbove(price)) as [
      string,
      string,
    ];

    test(`${path}: without a value it costs a unit, as with one; so does HEAD`, async () => {
      const key = await api.service.key();
      expect((await api.ask(having, { key })).status).toBe(200);
      expect(await used(key)).toBe(1);
      expect((await api.ask(without, { key })).status).toBeOneOf([400, 404]);
      expect(await used(key)).toBe(2);
      const head = (url: string) => api.ask(`${url}&x=1`, { key, method: 'HEAD' });
      expect((await head(having)).status).toBe(200);
      expect((await head(without)).status).toBeOneOf([400, 404]);
      expect(await used(key)).toBe(4);
    });

    test(`${path}: an exhausted account and a dry run learn nothing`, async () => {
      const key = await api.service.key('spent');
      for (const url of [`${having}&x=2`, `${without}&x=2`]) {
        expectRefusal(await api.ask(url, { key }), 429, 'quota_exhausted');
        expect((await api.ask(url, { key, method: 'HEAD' })).status).toBe(429);
        const anyTag = { 'if-none-match': '*' };
        expect((await api.ask(url, { key, headers: anyTag })).status).toBe(429);
        expect((await api.ask(`${url}&format=parquet`, { key, headers: anyTag })).status).toBe(429);
        for (const headers of [{}, anyTag]) {
          const { body } = await api.ask(`${url}&dryRun=true`, { key: api.key, headers });
          expect(body).toMatchObject({ success: true, cost: 1, admitted: true });
        }
      }
    });
  }

  test('a formula of a symbol without prices is refused for free, as the symbol is', async () => {
    const key = await api.service.key();
    const formula = encodeURIComponent('{XAU}/{XAG}');
    for (const path of [
      `/rates/latest?symbols=${formula}`,
      `/rates/historical?date=2024-05-12&symbols=${encodeURIComponent('{XAU}*2')}`,
    ])
      for (const url of [path, `${path}&dryRun=true`])
        expectRefusal(await api.ask(url, { key }), 404, 'no_data');
    expect(await used(key)).toBe(0);
  });

  test('a client that has the newest response asks again for free', async () => {
    const key = await api.service.key();
    const path = `/rates/latest?symbols=${encodeURIComponent('{XAU}*2')}`;
    const etag = (await api.ask(path, { key })).headers.get('etag')!;
    for (let i = 0; i < 3; i++)
      expect((await api.ask(path, { key, headers: { 'if-none-match': etag } })).status).toBe(304);
    expect(await used(key)).toBe(1);
  });

  test('HEAD of a Parquet file pays for the file, and for nothing else', async () => {
    const key = await api.service.key();
    const path = `/rates/history.parquet?startDate=2024-05-13&endDate=2024-05-14&symbols=${tooLargeAbove(1e6)}`;
    for (const method of ['HEAD', 'GET']) expect((await api.ask(path, { key, method })).status).toBe(200);
    expect(await used(key)).toBe(1);
  });

  test('a dry run of a Parquet file that is paid for learns nothing of newer prices', async () => {
    const key = await api.service.key();
    const path = `/rates/latest.parquet?symbols=${tooLargeAbove(2358.2)}`;
    expect((await api.ask(path, { key })).status).toBe(200);
    await api.service.tick('XAU', 2400);
    expect((await api.ask(`${path}&dryRun=true`, { key })).body).toMatchObject({ success: true, cost: 0 });
    expect((await api.ask(path, { key })).status).toBe(200);
    expect(await used(key)).toBe(1);
  });
});
