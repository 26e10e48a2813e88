import type { FeedsAnswer } from '../../api/answers.ts';
import { askOnce } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import type { ChartSeries } from '../../data/chart/history.ts';
import type { MarketStore } from '../../data/market/store.ts';
import { ago, computedPrice, price } from '../../show/format.ts';

const REDISTRIBUTION = {
  yes: 'may be redistributed',
  attribution: 'may be redistributed with attribution',
  no: 'may not be redistributed',
};

/** Every number on the page: what it is, how old it is, where it is from, and what may be done with it. */
export function Sources({
  series,
  store,
  apiKey,
}: {
  series: readonly ChartSeries[];
  store: MarketStore;
  apiKey: string;
}) {
  return (
    <section class="card" aria-labelledby="sources-title">
      <h2 id="sources-title">Sources</h2>
      <table class="plain stack">
        <thead>
          <tr>
            <th scope="col">Symbol</th>
            <th scope="col" class="number">
              Newest
            </th>
            <th scope="col">Age</th>
            <th scope="col">Source</th>
            <th scope="col">Licence</th>
          </tr>
        </thead>
        <tbody>
          {series.map((one) => (
            <SourceRow key={one.symbol.symbol} series={one} store={store} apiKey={apiKey} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function SourceRow({ series, store, apiKey }: { series: ChartSeries; store: MarketStore; apiKey: string }) {
  const { symbol, bars, unit, quote, isPublished } = series;
  const newest = bars.at(-1);
  const row = store.rows.get(symbol.symbol);
  const source = series.source || row?.quote.source || '';
  const measure = [quote, unit].filter((one) => one !== 'none').join('/');
  return (
    <tr>
      <th scope="row">{symbol.name}</th>
      <td data-label="Newest" class="number">
        <span>
          {newest ? (isPublished ? price : computedPrice)(newest.close) : '—'}{' '}
          <span class="muted">{measure}</span>
        </span>
      </td>
      <td data-label="Age">
        {row ? ago(row.quote.at) : newest ? ago(newest.date) : '—'}
        {row?.quote.stale && ', older than expected'}
      </td>
      <td data-label="Source">{source || '—'}</td>
      <td data-label="Licence">
        <Licence apiKey={apiKey} source={source} />
      </td>
    </tr>
  );
}

/** The required attribution, and whether redistribution is permitted. */
function Licence({ apiKey, source }: { apiKey: string; source: string }) {
  const names = source.split(', ').filter((name) => name !== '' && name !== 'simulated');
  const feeds = useLoad(
    async () => (names.length === 0 ? [] : (await askOnce<FeedsAnswer>(apiKey, '/feeds')).feeds),
    [apiKey, source],
  );
  const known = feeds.data;
  if (names.length > 0 && !known) return <>{feeds.state === 'failed' ? 'could not be read' : '…'}</>;
  return (
    <>
      {source.includes('simulated') && <span class="licence">none needed: the prices are simulated</span>}
      {names.map((name) => {
        const feed = known?.find(({ key }) => key === name);
        return (
          <span class="licence" key={name}>
            {feed ? (
              <>
                {feed.attribution};{' '}
                <a href={feed.licenceUrl} rel="noreferrer">
                  {REDISTRIBUTION[feed.licence]}
                </a>
              </>
            ) : (
              `“${name}” was supplied by the operator of this service, who knows its terms`
            )}
          </span>
        );
      })}
    </>
  );
}
