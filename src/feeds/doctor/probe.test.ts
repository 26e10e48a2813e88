import { expect, test } from 'bun:test';
import { ECB_HISTORY, ECB_XML, yahooJson, zipOf } from '../../../test/support/feeds/feed-bodies.ts';
import { stubProvider } from '../../../test/support/feeds/stub-provider.ts';
import { fakeRuntime, StubServer } from '../../../test/support/feeds/stub-server.ts';
import { printDay } from '../../market/day.ts';
import { withUrls } from '../provider.ts';
import { ecb } from '../providers/ecb.ts';
import { yahoo } from '../providers/yahoo.ts';
import { probe } from './probe.ts';

const NOW = Date.parse('2026-09-15T14:00:00Z');
const server = new StubServer();
const provider = withUrls(yahoo, { chart: `${server.url}/{id}?range={range}` });

const diagnose = (tried = provider) =>
  probe(tried, { secrets: {}, runtime: fakeRuntime(NOW), signal: new AbortController().signal });

function chart({ url }: Request): Response {
  const id = decodeURIComponent(new URL(url).pathname.slice(1));
  const { published, currency } = yahoo.series.find((one) => one.id === id)!;
  return new Response(yahooJson({ symbol: id, currency: published?.currency ?? currency }));
}

test('a provider that answers for every series is fine, however many it has', async () => {
  server.respond = chart;
  const { verdict, found } = await diagnose();
  expect(found).toEqual([expect.stringMatching(/^30 of 30 series, the newest price of /)]);
  expect(verdict).toBe('ok');
});

test('a monthly price that is three months old is not missing', async () => {
  const monthly = stubProvider(server.url, {
    requests: (_, since = 0) => [{ url: `${server.url}/prices.csv?since=${printDay(since)}` }],
  });
  server.respond = ({ url }) => {
    const rows = ['2026-06-01,3900,30', '2026-09-14,4000,.'];
    const since = new URL(url).searchParams.get('since')!;
    return new Response(['date,GOLD,SILVER', ...rows.filter((row) => row >= since)].join('\n'));
  };
  expect(await diagnose(monthly)).toMatchObject({ verdict: 'ok' });
});

test('series that were not tried because of an outage are not called missing', async () => {
  let requests = 0;
  server.respond = (request) => (++requests > 2 ? new Response('', { status: 503 }) : chart(request));
  const { verdict, found } = await diagnose();
  expect(verdict).toBe('unreachable');
  expect(found).toEqual([
    expect.stringContaining('the provider answered 503'),
    expect.stringMatching(/^2 of 30 series/),
  ]);
});

test('each address is tried, and the advice names the one that failed', async () => {
  const rates = withUrls(ecb, { history: `${server.url}/all`, recent: `${server.url}/recent` });
  for (const failing of ['history', 'recent']) {
    const down = new URL(rates.urls[failing]!).pathname;
    server.respond = ({ url }) =>
      new URL(url).pathname === down
        ? new Response('', { status: 404 })
        : new Response(down === '/all' ? ECB_XML : zipOf({ 'rates.csv': ECB_HISTORY }));
    const { verdict, url, advice } = await diagnose(rates);
    expect(verdict).toBe('gone');
    expect(url).toBe(rates.urls[failing]!);
    expect(advice.join()).toContain(`openpit feed set ecb --url ${failing}=ADDRESS`);
  }
});
