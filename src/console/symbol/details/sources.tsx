import type { FeedsAnswer, Quote } from '../../api/answers.ts';
import { askOnce } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import type { ChartSeries, History } from '../../data/chart/history.ts';
import type { QuoteOf } from '../../data/market/use-quotes.ts';
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
  history,
  quoteOf,
  apiKey,
}: {
  series: readonly ChartSeries[];
  history: History;
  quoteOf: QuoteOf;
  apiKey: string;
}) {
  return (
    <section class="card" aria-labelledby="sources-title">
      <h2 id="sources-title">Sources</h2>
      <StackTable
        rows={series.map((one) => withNewest(one, history, quoteOf(one.symbol)))}
        keyOf={({ symbol }) => symbol.symbol}
        columns={[
          ['Symbol', ({ symbol }) => symbol.name],
          [
            'Newest',
            ({ newest, isPublished, quote, unit }) => (
              <span>
                {newest ? (isPublished ? price : computedPrice)(newest.rate) : '—'}{' '}
                <span class="muted">{[quote, unit].filter((one) => one !== 'none').join('/')}</span>
              </span>
            ),
            'number',
          ],
          [
            'Age',
            ({ newest }) => (
              <>
                {newest ? ago(newest.at) : '—'}
                {newest?.stale && ', older than expected'}
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

/** A series with its newest price and the source. The quote is that price if it is as published, or in the last bar. */
function withNewest(series: ChartSeries, { currency, last }: History, quote: Quote | undefined) {
  const { symbol, bars, unit } = series;
  const bar = bars.at(-1);
  const isFormula = symbol.formula !== undefined;
  const isOwn = isFormula
    ? currency === undefined
    : series.quote === symbol.currency.code && unit === symbol.unit.symbol;
  const isInBar = !isFormula && quote !== undefined && last >= quote.date;
  const newest =
    quote && isOwn
      ? quote
      : bar && { rate: bar.close, at: isInBar ? quote.at : bar.date, stale: isInBar && quote.stale };
  return { ...series, newest, source: series.source || quote?.source || '' };
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
