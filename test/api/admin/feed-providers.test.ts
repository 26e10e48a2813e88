import { expect, test } from 'bun:test';
import { apiOn, expectRefusal, type Json } from '../../support/api.ts';
import { ECB_HISTORY, ECB_XML, zipOf } from '../../support/feeds/feed-bodies.ts';
import { StubServer } from '../../support/feeds/stub-server.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { OPERATOR_SETTINGS, operatorOf } from '../../support/operator.ts';

onEachEngine('providers of feeds', (engine) => {
  const api = apiOn(engine, { settings: OPERATOR_SETTINGS });
  const provider = new StubServer();
  const asOperator = operatorOf(api);
  const send = (method: string, path: string, body?: unknown) =>
    asOperator(method, path, body, { 'openpit-operator': 'Ada' });
  const set = (key: string, addresses: unknown) =>
    send('PUT', `/admin/feeds/${key}/addresses`, { addresses });
  const addressesOf = async (key: string) =>
    (await send('GET', `/admin/feeds/${key}/addresses`)).body.addresses as Json[];

  test('an address can be replaced and restored, and the audit log names the host without the address', async () => {
    const [own, other] = await addressesOf('fred');
    expect(own).toMatchObject({ name: 'csv', url: own!.own });
    const url = 'https://mirror.example/?id={id}&token=hunter2';
    const replaced = [{ name: 'csv', url, own: own!.own }, other];
    expect((await set('fred', { csv: url })).body.addresses).toEqual(replaced);
    expect(await addressesOf('fred')).toEqual(replaced as Json[]);
    expect(await api.service.ledger.feeds.urls('fred')).toEqual({ csv: url });
    expect((await set('fred', { csv: own!.own })).status).toBe(200);
    expect(await api.service.ledger.feeds.urls('fred')).toEqual({});
    await set('fred', { csv: url });
    expect((await set('fred', {})).body.addresses).toEqual([own, other]);
    const log = await send('GET', '/admin/audit?search=feed.addresses');
    expect(log.body.entries).toHaveLength(4);
    expect((log.body.entries as Json[])[1]).toMatchObject({
      target: 'fred',
      actor: 'Ada',
      details: { hosts: { csv: 'mirror.example' } },
    });
    expect(log.text).not.toContain('hunter2');
  });

  test('an address that could not work is refused, and nothing changes', async () => {
    const refused: [addresses: unknown, reason: string][] = [
      [{ csv: 'http://mirror.example/?id={id}' }, 'https'],
      [{ csv: 'file:///etc/passwd?{id}' }, 'https'],
      [{ csv: 'https://mirror.example/' }, '{id}'],
      [{ xml: 'https://mirror.example/?id={id}' }, 'there is no address xml'],
      [{ __proto__: 'x', constructor: 'https://mirror.example/' }, 'there is no address constructor'],
      [{ csv: 7 }, 'csv'],
      ['https://mirror.example/?id={id}', 'addresses'],
    ];
    for (const [addresses, reason] of refused) {
      const reply = await set('fred', addresses);
      expectRefusal(reply, 400, 'invalid_body');
      expect(reply.text).toContain(reason);
    }
    expect(await api.service.ledger.feeds.urls('fred')).toEqual({});
    expectRefusal(await set('nope', {}), 404, 'not_there');
    expectRefusal(await send('GET', '/admin/feeds/nope/addresses'), 404, 'not_there');
  });

  test('a probe says that a provider answers as expected, or how it differs and what to do', async () => {
    const bodies: Record<string, () => Response> = {
      '/history.zip': () => new Response(zipOf({ 'eurofxref-hist.csv': ECB_HISTORY })),
      '/recent.xml': () => new Response(ECB_XML),
    };
    provider.respond = (request) =>
      bodies[new URL(request.url).pathname]?.() ?? new Response('', { status: 404 });
    await set('ecb', { history: `${provider.url}/history.zip`, recent: `${provider.url}/recent.xml` });
    const probed = async () => (await send('POST', '/admin/feeds/ecb/probe', {})).body;
    expect(await probed()).toMatchObject({ key: 'ecb', verdict: 'ok', advice: [] });
    bodies['/history.zip'] = () => new Response('', { status: 404 });
    bodies['/recent.xml'] = () => new Response('', { status: 404 });
    const gone = await probed();
    const found = ['recent: the provider answered 404', 'history: the provider answered 404'];
    expect(gone).toMatchObject({ verdict: 'gone', found });
    expect(gone.url).toContain(provider.url);
    expect(String(gone.advice)).toContain('The address has changed');
    bodies['/recent.xml'] = () => new Response('', { status: 503 });
    expect(await probed()).toMatchObject({
      verdict: 'unreachable',
      found: ['recent: the provider answered 503'],
      advice: [expect.stringContaining('Try again later')],
    });
    expect(await api.service.ledger.feeds.history(10, 'ecb')).toEqual([]);
  });

  test('a probe of a feed that lacks its key says which setting it requires', async () => {
    const reply = await send('POST', '/admin/feeds/eia/probe', {});
    expectRefusal(reply, 409, 'conflict');
    expect(reply.text).toContain('OPENPIT_EIA_API_KEY');
    expectRefusal(await send('POST', '/admin/feeds/nope/probe', {}), 404, 'not_there');
  });
});
