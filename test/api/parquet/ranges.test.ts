import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { asyncBufferFromUrl, parquetReadObjects } from 'hyparquet';
import { SCHEMAS } from '../../../src/api/openapi/schemas/schemas.ts';
import { parseDay, printDay } from '../../../src/market/day.ts';
import { apiOn, expectRefusal, readReply } from '../../support/api.ts';
import { duckdb } from '../../support/duckdb.ts';
import { newFolder, onEachEngine } from '../../support/ledger.ts';
import { MINUTE } from '../../support/service.ts';

const SPAN = 'startDate=1994-01-01&endDate=2024-12-31';
const PATH = `/rates/history?symbols=XAU&${SPAN}&format=parquet`;
/** The rows of a file with 10,958 bars cost six units. */
const UNITS = 6;

/** An extension of DuckDB that it downloads on its own where it may. */
const HAS_HTTPFS = await duckdb('LOAD httpfs').then(
  () => true,
  () => false,
);

function thirtyYears(): Record<string, number> {
  const bars: Record<string, number> = {};
  for (let day = parseDay('1994-05-16')!; day <= parseDay('2024-05-15')!; day++)
    bars[printDay(day)] = day / 8;
  return bars;
}

onEachEngine('a Parquet file that is read in ranges', (engine) => {
  const api = apiOn(engine, {}, ({ service }) => service.publish('XAU', thirtyYears()));
  const newKey = () => api.service.key();
  const usedBy = async (key: string) => (await api.ask('/usage', { key })).body.used;
  const get = (key: string, range?: string, headers: Record<string, string> = {}, path = PATH) =>
    api.service.get(path, key, { headers: { ...headers, ...(range !== undefined && { range }) } });
  const head = (key: string) => api.service.get(PATH, key, { method: 'HEAD' });
  const bytesOf = async (response: Promise<Response>) => Buffer.from(await (await response).arrayBuffer());

  /** Reads a file as DuckDB does: HEAD for the length, the end for the footer, then the rest in pieces. */
  async function readInRanges(key: string): Promise<{ bytes: Buffer; tags: (string | null)[] }> {
    const opened = await head(key);
    const length = Number(opened.headers.get('content-length'));
    const bytes = Buffer.alloc(length);
    const tags = [opened.headers.get('etag')];
    const size = 20_000;
    for (let start = Math.floor((length - 1) / size) * size; start >= 0; start -= size) {
      const end = Math.min(length, start + size);
      const part = await get(key, `bytes=${start}-${end - 1}`);
      expect(part.status).toBe(206);
      expect(part.headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/${length}`);
      tags.push(part.headers.get('etag'));
      expect(Buffer.from(await part.arrayBuffer()).copy(bytes, start)).toBe(end - start);
    }
    return { bytes, tags };
  }

  test('is the file of a single request, and costs as much, once', async () => {
    const key = await newKey();
    const { bytes, tags } = await readInRanges(key);
    expect(new Set(tags).size).toBe(1);
    expect(await usedBy(key)).toBe(UNITS);
    expect((await bytesOf(get(key))).equals(bytes)).toBe(true);
    expect(await usedBy(key)).toBe(UNITS);
    const file = join(newFolder(), 'ranges.parquet');
    await Bun.write(file, bytes);
    const [row] = await api.service.ledger.engine.read`SELECT count(*) AS n, sum(close) AS sum FROM bar`;
    expect(await duckdb(`SELECT count(*)::INTEGER, sum(close) FROM '${file}'`)).toEqual([
      [Number(row!.n), Number(row!.sum)],
    ]);
  });

  test('is read by a library that knows only the URL', async () => {
    const key = await newKey();
    const file = await asyncBufferFromUrl({ url: `${api.service.url}${PATH}&apiKey=${key}` });
    const rows = await parquetReadObjects({
      file,
      columns: ['date', 'close'],
      rowStart: 10_000,
      rowEnd: 10_002,
    });
    expect(rows).toEqual([
      { date: new Date('2021-10-01T00:00:00Z'), close: parseDay('2021-10-01')! / 8 },
      { date: new Date('2021-10-02T00:00:00Z'), close: parseDay('2021-10-02')! / 8 },
    ]);
    expect(await usedBy(key)).toBe(UNITS);
  });

  test.skipIf(!HAS_HTTPFS)(
    'is read by DuckDB from its URL (skipped where httpfs is not installed)',
    async () => {
      const key = await newKey();
      const url = `${api.service.url}/rates/history.parquet?symbols=XAU&${SPAN}&apiKey=${key}`;
      const [row] = await api.service.ledger.engine.read`SELECT count(*) AS n, sum(close) AS sum FROM bar`;
      const read = `LOAD httpfs; SELECT count(*)::INTEGER, sum(close) FROM read_parquet('${url}')`;
      expect(await duckdb(read)).toEqual([[Number(row!.n), Number(row!.sum)]]);
      expect(await usedBy(key)).toBe(UNITS);
    },
  );

  test('supports the end of the file, open ends and If-Range', async () => {
    const key = await newKey();
    const whole = await bytesOf(get(key));
    const etag = (await head(key)).headers.get('etag')!;
    expect((await bytesOf(get(key, 'bytes=-8'))).equals(whole.subarray(-8))).toBe(true);
    expect((await bytesOf(get(key, `bytes=${whole.length - 3}-`))).equals(whole.subarray(-3))).toBe(true);
    expect((await bytesOf(get(key, 'bytes=0-3', { 'if-range': etag }))).toString()).toBe('PAR1');
    expect((await get(key, 'bytes=0-3', { 'if-range': '"another"' })).status).toBe(200);
    expect((await get(key, 'bytes=0-3', { 'if-none-match': etag })).status).toBe(304);
    expect((await get(key, 'bytes=0-1,4-5')).status).toBe(200);
    expect((await head(key)).headers.get('accept-ranges')).toBe('bytes');
    expect(await usedBy(key)).toBe(UNITS);
  });

  test('refuses a range beyond its end, which pays for the file like any first request', async () => {
    const key = await newKey();
    const early = await readReply(await get(key, 'bytes=999999999-'));
    expect(await usedBy(key)).toBe(UNITS);
    const { length } = await bytesOf(get(key));
    const late = await readReply(await get(key, `bytes=${length}-`));
    for (const refused of [early, late]) {
      expectRefusal(refused, 416, 'invalid_byte_range', { length });
      SCHEMAS.Error.parse(refused.body);
      expect(refused.headers.get('content-range')).toBe(`bytes */${length}`);
    }
    expect(await usedBy(key)).toBe(UNITS);
  });

  test('stays the same while prices change, for ten minutes; then it is another file, and costs again', async () => {
    const { service } = api;
    const key = await newKey();
    const before = await head(key);
    const etag = before.headers.get('etag');
    await service.tick('XAU', 9_999);
    expect((await head(key)).headers.get('etag')).toBe(etag);
    service.clock.time += 5 * MINUTE;
    await service.tick('XAU', 9_998);
    expect((await get(key, 'bytes=0-3')).headers.get('etag')).toBe(etag);
    expect(await usedBy(key)).toBe(UNITS);
    const renewed = await head(key); // opens it again
    expect(renewed.headers.get('etag')).not.toBe(etag);
    expect(await usedBy(key)).toBe(2 * UNITS);
    service.clock.time += 10 * MINUTE;
    expect((await get(key, 'bytes=0-3')).headers.get('etag')).toBe(renewed.headers.get('etag'));
    expect(await usedBy(key)).toBe(3 * UNITS);
  });

  test('is charged once if its first ranges arrive at the same time', async () => {
    const key = await newKey();
    const parts = await Promise.all(Array.from({ length: 20 }, (_, i) => get(key, `bytes=${i}-${i}`)));
    expect(parts.map(({ status }) => status)).toEqual(parts.map(() => 206));
    expect(await usedBy(key)).toBe(UNITS);
  });

  test('belongs to the account that paid: another one pays for itself, and gets the same file', async () => {
    const [first, second] = [await newKey(), await newKey()];
    const file = await bytesOf(get(first));
    expect((await bytesOf(get(second, 'bytes=0-'))).equals(file)).toBe(true);
    expect([await usedBy(first), await usedBy(second)]).toEqual([UNITS, UNITS]);
  });

  test('costs nothing if the quota is too small, HEAD included, and is not written', async () => {
    await api.service.setPlan({ name: 'small', quota: UNITS - 1 });
    const key = await api.service.key('small');
    await usedBy(key);
    expect((await head(key)).status).toBe(429);
    const refused = await readReply(await get(key, 'bytes=0-3'));
    expect(expectRefusal(refused, 429, 'quota_exhausted')).toContain(`costs ${UNITS} units`);
    expect(await usedBy(key)).toBe(0);
  });

  test('is not sent, and not charged, to a client that has it', async () => {
    const [first, second] = [await newKey(), await newKey()];
    const etag = (await get(first)).headers.get('etag')!;
    expect((await get(second, undefined, { 'if-none-match': etag })).status).toBe(304);
    expect(await usedBy(second)).toBe(0);
  });

  test('from the ledger costs its rows once, too', async () => {
    const key = await newKey();
    const path = `${PATH}&asOf=2024-05-15`;
    const whole = await bytesOf(get(key, undefined, {}, path));
    const end = await get(key, 'bytes=-8', {}, path);
    expect(end.headers.get('content-range')).toEndWith(`/${whole.length}`);
    expect((await bytesOf(Promise.resolve(end))).equals(whole.subarray(-8))).toBe(true);
    expect(await usedBy(key)).toBe(UNITS);
  });
});
