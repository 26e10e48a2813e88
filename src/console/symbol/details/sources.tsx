import type { FeedsAnswer } from '../../api/answers.ts';
import { askOnce } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import type { ChartSeries } from '../../data/chart/history.ts';
import type { MarketStore } from '../../data/market/store.ts';
import { isSimulated } from '../../data/simulated.ts';
import { ago, computedPrice, price } from '../../show/format.ts';
import { StackTable } from '../../show/stack-table.tsx';

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
      <StackTable
        rows={series.map((one) => withSource(one, store))}
        keyOf={({ symbol }) => symbol.symbol}
        columns={[
          ['Symbol', ({ symbol }) => symbol.name],
          [
            'Newest',
            ({ newest, isPublished, quote, unit }) => (
              <span>
                {newest ? (isPublished ? price : computedPrice)(newest.close) : '—'}{' '}
                <span class="muted">{[quote, unit].filter((one) => one !== 'none').join('/')}</span>
              </span>
            ),
            'number',
          ],
          [
            'Age',
            ({ newest, latest }) => (
              <>
                {latest ? ago(latest.at) : newest ? ago(newest.date) : '—'}
                {latest?.stale && ', older than expected'}
              </>
            ),
          ],
          ['Source', ({ source }) => source || '—'],
          ['Licence', ({ source }) => <Licence apiKey={apiKey} source={source} />],
        ]}
      />
    </section>
  );
}

/** A series with its newest bar, its latest quote, and the source of either. */
function withSource(series: ChartSeries, store: MarketStore) {
  const latest = store.rows.get(series.symbol.symbol)?.quote;
  return { ...series, newest: series.bars.at(-1), latest, source: series.source || latest?.source || '' };
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
      {isSimulated(source) && <span class="licence">none needed: the prices are simulated</span>}
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
