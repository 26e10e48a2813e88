import { describe, expect, test } from 'bun:test';
import { csv, feedBench, GOOD, history } from '../../../test/support/feeds/feed-bench.ts';
import { respondWithBytes, streamOf } from '../../../test/support/feeds/stub-server.ts';
import { onEachEngine } from '../../../test/support/ledger.ts';
import { day, flat, symbolOf } from '../../../test/support/ledgers.ts';
import { FETCH_LIMITS } from '../fetch/http-client.ts';

onEachEngine('a failing provider', (engine) => {
  const bench = feedBench(engine);

  describe('a fault leaves all prices unchanged, is reported, and the next successful run recovers:', () => {
    const answer = (body: string | ReadableStream | null, init?: ResponseInit) => async () => {
      bench.server.respond = () =>
        new Response(body instanceof ReadableStream ? streamOf(100_000_000) : body, init);
      return bench.server.url;
    };
    const rows = history();
    const faults: [string, () => Promise<string>, string, string][] = [
      [
        '429',
        answer('', { status: 429, headers: { 'retry-after': '5' } }),
        'failed',
        'the provider answered 429 (3 attempts)',
      ],
      [
        '429 for an hour',
        answer('', { status: 429, headers: { 'retry-after': '3600' } }),
        'failed',
        'the provider answered 429',
      ],
      ['500', answer('oops', { status: 500 }), 'failed', 'the provider answered 500 (3 attempts)'],
      ['HTML with status 200', answer('<html>Who are you?</html>'), 'failed', 'HTML where CSV was expected'],
      ['JSON with status 200', answer('{"error":"no"}'), 'failed', 'JSON where CSV was expected'],
      ['an empty body', answer(''), 'failed', 'the body is empty'],
      ['no rows', answer(csv()), 'quarantined', '0 observations, but 20 the last time'],
      [
        'another header',
        answer('when,GOLD\n2026-07-14,1\n'),
        'failed',
        'the first line does not begin with "date"',
      ],
      ['a body of 100 MB', answer(streamOf(0)), 'failed', 'longer than 20971520 bytes'],
      [
        'a truncated body',
        () =>
          respondWithBytes('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\ndate,GOLD\n', (socket) =>
            socket.end(),
          ),
        'failed',
        'the connection closed before the response was complete',
      ],
      ['silence', () => respondWithBytes('', () => {}), 'failed', 'no complete response within 0.06 s'],
      [
        'a redirect to another host',
        answer(null, { status: 302, headers: { location: 'https://evil.example/' } }),
        'failed',
        'evil.example is not a host of this provider',
      ],
      [
        'a day in the future',
        answer(csv(...rows, '2026-07-18,4000')),
        'quarantined',
        '2026-07-18 is in the future',
      ],
      [
        'a day in 2999',
        answer(csv(...rows, '2999-01-01,4000')),
        'quarantined',
        '2999-01-01 is in the future',
      ],
      ['a day twice', answer(csv(...rows, '2026-07-01,1')), 'quarantined', '2026-07-01 appears twice'],
      [
        'far fewer days',
        answer(csv(...rows.slice(-9))),
        'quarantined',
        '9 observations, but 20 the last time',
      ],
      [
        'a unit that changes from one day on',
        answer(csv(...rows, '2026-07-14,402500')),
        'quarantined',
        '2026-07-13 is 4019 and 2026-07-14 is 402500, a jump by about 100',
      ],
      [
        'a unit that changes for all days',
        answer(csv(...rows.map((row) => row.replace(/,(.*)/, (_, price) => `,${Number(price) / 31.1}`)))),
        'quarantined',
        '2026-06-24 was 4000 and is now 128.6',
      ],
    ];

    test.each(faults)('%s', async (_, fault, status, message) => {
      bench.respond(GOOD, { etag: '"v1"' });
      await bench.run();
      const before = await bench.revisions();
      const { prices } = await bench.ledger.head();

      const url = await fault();
      const requests = () => [{ url: `${url}/prices.csv` }];
      const limits = {
        ...FETCH_LIMITS,
        timeoutMs: status === 'failed' && message.includes('0.06') ? 60 : 10_000,
      };
      const bad = await bench.run({}, url === bench.server.url ? {} : { requests }, {}, limits);
      expect(bad).toMatchObject({
        status,
        message: expect.stringContaining(message),
        requests: 1,
        taken: 0,
        corrected: 0,
      });
      expect(await bench.lastRun()).toMatchObject({
        number: 2,
        status,
        requests: 1,
        message: expect.stringContaining(message),
      });
      expect(await bench.revisions()).toEqual(before);
      expect((await bench.ledger.head()).prices).toBe(prices);
      expect((await bench.health()).failures).toBe(1);

      bench.respond(csv(...rows, '2026-07-15,4030'));
      expect(await bench.run()).toMatchObject({ status: 'ok', taken: 1, corrected: 0, unchanged: 20 });
      expect((await bench.closes()).at(-1)).toBe(4030);
      expect((await bench.health()).failures).toBe(0);
    });
  });

  test('a 500 followed by a success is a successful run', async () => {
    bench.server.respondInTurn(
      () => new Response('', { status: 500 }),
      () => new Response(GOOD),
    );
    expect(await bench.run()).toMatchObject({ status: 'ok', taken: 20 });
  });

  test('suspect prices are published once the operator accepts them, and not questioned again', async () => {
    bench.respond(GOOD);
    await bench.run();
    const odd = csv(...history(), '2026-07-14,402500');
    bench.respond(odd);
    expect(await bench.run({ accept: true })).toMatchObject({ status: 'ok', taken: 1 });
    expect(await bench.run()).toMatchObject({ status: 'ok', unchanged: 21 });
    bench.respond(csv('2026-07-15,402600'));
    expect(await bench.run({ accept: true })).toMatchObject({ status: 'ok', taken: 1 }); // one day where 21 were
    expect(await bench.run()).toMatchObject({ status: 'ok', unchanged: 1 });
    bench.respond(csv('2999-01-01,1'));
    expect(await bench.run({ accept: true })).toMatchObject({ status: 'quarantined' }); // that cannot be right
  });

  test('a unit change against the price of the previous year is detected: a series may be annual', async () => {
    bench.respond(csv('2024-07-20,39', '2025-07-20,40'));
    await bench.run();
    bench.respond(csv('2026-07-14,4000'));
    expect(await bench.run()).toMatchObject({
      status: 'quarantined',
      message: expect.stringContaining('2025-07-20 is 40 and 2026-07-14 is 4000'),
    });
  });

  test('a unit change against the price of another source is detected', async () => {
    const { id: symbolId } = await symbolOf(bench.ledger, bench.symbol);
    await bench.ledger.bars.publish([{ symbolId, day: day('2026-07-14'), ...flat(40) }], {
      source: 'desk',
      recordedAt: 0,
    });
    bench.respond(csv('2026-07-14,4000'));
    expect(await bench.run()).toMatchObject({
      status: 'quarantined',
      message: expect.stringContaining('was 40'),
    });
  });
});
