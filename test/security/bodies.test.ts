import { expect, test } from 'bun:test';
import { apiOn, expectRefusal, type Reply } from '../support/api.ts';
import { onEachEngine } from '../support/ledger.ts';
import { OPERATOR_HEADERS, OPERATOR_SETTINGS } from '../support/operator.ts';

const TICK = '{"symbol":"XAU","price":2358,"at":"2024-05-15T15:00:00Z"}';

onEachEngine('malicious bodies', (engine) => {
  const api = apiOn(engine, { settings: OPERATOR_SETTINGS });
  const send = (
    method: string,
    path: string,
    body?: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ): Promise<Reply> =>
    api.ask(path, {
      method,
      key: '',
      headers: { ...OPERATOR_HEADERS, ...headers },
      ...(body !== undefined && { body: body as string }),
    });

  test('a member named __proto__ is refused, and pollutes nothing', async () => {
    const given = '"name":"A","plan":"basic"';
    for (const body of [
      `{${given},"__proto__":{"status":"x"}}`,
      `{"__proto__":{${given}}}`,
      `{${given},"constructor":{}}`,
    ])
      expectRefusal(await send('POST', '/admin/accounts', body), 400, 'invalid_body');
    const pushed = await send('POST', '/admin/ticks', `[{"__proto__":${TICK}}]`);
    expect(pushed.body).toMatchObject({ accepted: 0, refused: 1 });
    expect('status' in {} || 'symbol' in {}).toBe(false);
    expectRefusal(await send('PUT', '/admin/plans/__proto__', '{}'), 400, 'invalid_body');
  });

  test('a body of half a million brackets is parsed or refused', async () => {
    const deep = '['.repeat(400_000);
    expectRefusal(await send('POST', '/admin/ticks', deep), 400, 'invalid_body');
    const closed = `${deep}${']'.repeat(400_000)}`;
    expect((await send('POST', '/admin/ticks', closed)).body).toMatchObject({ accepted: 0, refused: 1 });
    const record = `[{"symbol":"XAU","at":1,"price":${closed}}]`;
    expect((await send('POST', '/admin/ticks', record)).body).toMatchObject({ accepted: 0, refused: 1 });
    expectRefusal(await send('POST', '/admin/accounts', closed), 400, 'invalid_body');
  });

  test('a compressed body is not decompressed, so it cannot be a bomb', async () => {
    const bomb = Bun.gzipSync(new TextEncoder().encode(`[${' '.repeat(50_000_000)}${TICK}]`));
    expect(bomb.length).toBeLessThan(100_000);
    const reply = await send('POST', '/admin/ticks', bomb, { 'content-encoding': 'gzip' });
    expectRefusal(reply, 400, 'invalid_body');
  });

  test('a body over 1 MiB is refused', async () => {
    expect((await send('POST', '/admin/ticks', ' '.repeat(1_100_000))).status).toBe(413);
  });

  test('control characters are refused in ids and names, and an id with one is not found', async () => {
    for (const path of ['/admin/accounts/%00', '/admin/accounts/acc%1B%5B2J'])
      expectRefusal(await send('GET', path), 404, 'not_there');
    expectRefusal(await send('PATCH', '/admin/accounts/%00', '{"status":"active"}'), 404, 'not_there');
    expectRefusal(await send('DELETE', '/admin/keys/%00'), 404, 'not_there');
    expectRefusal(await send('DELETE', '/admin/plans/%00'), 404, 'not_there');
    expectRefusal(await send('PUT', '/admin/plans/%00', '{}'), 400, 'invalid_body');
    expect((await send('GET', '/admin/accounts?search=%00')).body).toEqual({
      success: true,
      accounts: [],
      next: null,
    });
    for (const name of ['a\\u0000b', '\\u001b[2J', 'two\\nlines'])
      expectRefusal(
        await send('POST', '/admin/accounts', `{"name":"${name}","plan":"basic"}`),
        400,
        'invalid_body',
      );
    expectRefusal(await send('POST', '/admin/accounts', '{"name":"A","plan":"\\u0000"}'), 404, 'not_there');
    const file = '/admin/imports?symbol=XAU&file=';
    for (const name of ['a%00b', '%1B%5B2J', 'two%0Alines'])
      expectRefusal(await send('POST', file + name, 'date,close\n2024-05-14,2358'), 400, 'invalid_parameter');
    const tick = TICK.replace('}', ',"id":"a\\u0000b"}');
    expect((await send('POST', '/admin/ticks', `[${tick},${TICK}]`)).body).toMatchObject({
      accepted: 1,
      results: [
        {
          status: 'refused',
          reason: expect.stringContaining('id must be whole Unicode without control characters'),
        },
        { status: 'accepted' },
      ],
    });
  });

  test('none of this caused an internal error', () => {
    expect(api.service.logLines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});
