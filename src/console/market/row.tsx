import { memo } from 'preact/compat';
import { useMemo } from 'preact/hooks';
import type { MarketSymbol, Quote } from '../api/answers.ts';
import { Sparkline } from '../charts/sparkline.tsx';
import { changeOf, hasMarketHours, type MarketRow } from '../data/market/rows.ts';
import type { MarketStore } from '../data/market/store.ts';
import { useMarketRow } from '../data/market/use-market.ts';
import { linkTo } from '../data/route.ts';
import { isSimulated } from '../data/simulated.ts';
import { ago, decimalsOf, percentTrend, price, signed, trend } from '../show/format.ts';
import { useNow } from '../show/now.ts';
import { Star } from './star.tsx';

/** One line of the market. It re-renders when its own quote changes, and four times a minute for its age and its line. */
export const Row = memo(function Row({ symbol, store }: { symbol: MarketSymbol; store: MarketStore }) {
  const row = useMarketRow(store, symbol.symbol);
  const now = useNow();
  const quote = row?.quote;
  const change = quote && changeOf(quote);
  const values = useMemo(() => (row ? lineOf(row) : ''), [row?.closes, now]);
  const moved = row?.direction ? (row.direction > 0 ? 'moved-up' : 'moved-down') : '';
  return (
    <tr>
      <td class="cell-star">
        <Star code={symbol.symbol} name={symbol.name} />
      </td>
      <th scope="row">
        <a href={linkTo('symbol', symbol.symbol)}>
          <span class="name">{symbol.name}</span> <span class="code">{symbol.symbol}</span>
        </a>
        {quote && <Origin quote={quote} now={now} hasHours={hasMarketHours(symbol)} />}
      </th>
      <td class="cell-line">
        <Sparkline values={values} trend={row ? trendOf(row) : 'flat'} />
      </td>
      <td class="cell-rate">
        <span class={`rate ${quote ? moved : 'none'}`}>
          {quote ? price(quote.rate) : symbol.lastDate ? '…' : 'no data'}
        </span>
        <span class="unit">
          {symbol.currency.code}/{symbol.unit.symbol}
        </span>
      </td>
      <td class={`cell-change ${percentTrend(change?.percent)}`}>
        {change ? (
          <>
            <span>{signed(change.percent)} %</span>
            <span class="absolute">{signed(change.absolute, decimalsOf(quote.rate))}</span>
          </>
        ) : (
          <span class="muted">—</span>
        )}
      </td>
    </tr>
  );
});

/** Whether a rate is real or simulated, how old it is, and whether its market is open, if it has one. */
function Origin({
  quote: { source, at, open, stale },
  now,
  hasHours,
}: {
  quote: Quote;
  now: number;
  hasHours: boolean;
}) {
  const isNotReal = isSimulated(source);
  const age = ago(at, now).replace(` ${new Date(now).getUTCFullYear()}`, '');
  return (
    <>
      <span
        class={isNotReal ? 'origin simulated' : 'origin'}
        title={isNotReal ? 'Simulated price' : `Real price from ${source}, ${at}`}
      >
        {source}
      </span>
      <span class="together">
        <span class={stale ? 'origin stale' : 'origin'} title={stale ? 'Older than expected' : at}>
          {age}
        </span>
        {hasHours && (
          <span
            class={open ? 'market-state open' : 'market-state'}
            title={`Market ${open ? 'open' : 'closed'}`}
          >
            <span class="visually-hidden">market {open ? 'open' : 'closed'}</span>
          </span>
        )}
      </span>
    </>
  );
}

/** The direction of the line itself, from its first point to its last. */
function trendOf({ closes, quote }: MarketRow): ReturnType<typeof trend> {
  const first = closes.at(-29) ?? closes[0];
  return trend(first === undefined ? undefined : quote.rate - first);
}

function lineOf({ closes, quote }: MarketRow): string {
  return [...closes.slice(-29), quote.rate].join(' ');
}
