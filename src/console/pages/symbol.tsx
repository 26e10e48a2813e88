import { useState } from 'preact/hooks';
import { type Holder, WithKey } from '../account/with-key.tsx';
import type { ChartBar, ConfigAnswer, MarketSymbol, Rate } from '../api/answers.ts';
import { useLoad } from '../api/load.ts';
import { Candles } from '../charts/candles.tsx';
import { hasLongHistory, loadHistory, RANGES, type Range, requestsFor } from '../data/history.ts';
import { useLiveBars, useRate } from '../data/latest.ts';
import { type MarketStore, useMarket, useMarketRow } from '../data/market.ts';
import { linkTo, linkToLastMarket, useParam } from '../data/route.ts';
import { inUnit, nameOfUnit, useRateIn, useUnits } from '../data/units.ts';
import { downloadCsv } from '../show/csv.ts';
import { day, decimalsOf, duration, plural, price, signed, trend } from '../show/format.ts';
import { Choice, Failure, Loading, Notice } from '../show/parts.tsx';
import { RequestBox } from '../show/request.tsx';
import { Revisions, useRevisions } from '../symbol/revisions.tsx';
import { Conversions, Facts } from '../symbol/symbol-facts.tsx';

/** More requests than this need confirmation: they cost quota. */
const REQUESTS_UNASKED_MAX = 15;

export function SymbolPage({ code, config }: { code: string; config: ConfigAnswer }) {
  return <WithKey config={config}>{(holder) => <Found code={code} holder={holder} />}</WithKey>;
}

function Found({ code, holder }: { code: string; holder: Holder }) {
  const store = useMarket(holder.apiKey, 'without closes');
  if (!store.symbols) {
    if (store.error !== undefined) return <Failure error={store.error} onRetry={store.refresh} />;
    return <Loading label={`Loading ${code}`} lines={8} />;
  }
  const symbol = store.symbols.find((one) => one.symbol === code);
  if (!symbol) {
    return (
      <Notice title={`There is no symbol “${code}”.`}>
        <a href={linkTo('market')}>Find another in the market</a>.
      </Notice>
    );
  }
  if (symbol.lastDate === null) return <NoPrices symbol={symbol} />;
  return <Detail symbol={symbol} store={store} holder={holder} />;
}

/** The market asks for new prices, so the first one shows by itself. */
function NoPrices({ symbol }: { symbol: MarketSymbol }) {
  return (
    <>
      <Title symbol={symbol} />
      <Notice title="No prices yet.">
        {symbol.name} is in the catalogue, and nothing has been brought in for it so far. The chart comes by
        itself with the first price.
      </Notice>
    </>
  );
}

function Detail({ symbol, store, holder }: { symbol: MarketSymbol; store: MarketStore; holder: Holder }) {
  const { apiKey, plan } = holder;
  const [asked, setRange] = useParam('range', hasLongHistory(plan) ? '6M' : '1M');
  const range = RANGES.find((one) => one === asked) ?? '1M';
  const [agreed, setAgreed] = useState(false);
  const units = useUnits(apiKey, symbol);
  const [chosen, setChosen] = useParam('unit', symbol.unit.symbol);
  const unit = units.find((one) => one.unit === chosen) ?? units[0]!;
  const requests = requestsFor(range, symbol, plan);
  const mustAsk = requests > REQUESTS_UNASKED_MAX && !agreed;
  const [partial, setPartial] = useState<ChartBar[]>();
  const history = useLoad(
    async (signal) => {
      setPartial(undefined);
      if (mustAsk) return undefined;
      return loadHistory(apiKey, { symbol, range, unit: unit.unit, plan }, setPartial, signal);
    },
    [apiKey, symbol, range, unit.unit, mustAsk],
  );
  const row = useMarketRow(store, symbol.symbol);
  const rate = useRate(symbol, row);
  const stale = row?.quote.stale ?? false;
  const before = row?.quote.before?.close;
  const latest = useRateIn(rate, unit);
  const [corrections, setCorrections] = useParam('corrections', '');
  const wantsRevisions = corrections !== '';
  const revisions = useRevisions(apiKey, symbol, wantsRevisions ? history.data?.bars : undefined);
  const bars = useLiveBars(history.data, partial, latest);
  return (
    <>
      <Title
        symbol={symbol}
        latest={latest}
        stale={stale}
        before={before === undefined ? undefined : inUnit(before, unit)}
        delaySeconds={plan.delaySeconds}
      />
      {store.error !== undefined && <Failure error={store.error} onRetry={store.refresh} />}
      <section class="card" aria-label="Chart">
        <div class="card-head">
          <Choice label="Range" options={RANGES} value={range} onChange={setRange} />
          <div class="card-tools">
            {units.length > 1 && (
              <label class="inline">
                per{' '}
                <select
                  aria-label="Unit"
                  value={unit.unit}
                  onChange={(event) => setChosen(event.currentTarget.value)}
                >
                  {units.map((one) => (
                    <option key={one.unit} value={one.unit}>
                      {nameOfUnit(one.unit)}
                    </option>
                  ))}
                </select>
              </label>
            )}
            <button
              type="button"
              class="button small"
              disabled={!history.data}
              onClick={() => history.data && downloadCsv(symbol, range, history.data)}
            >
              Download CSV
            </button>
          </div>
        </div>
        {history.state === 'failed' && <Failure error={history.error} onRetry={history.reload} />}
        {mustAsk ? (
          <Notice
            title={`This range takes ${plural(requests, 'request')}.`}
            action={
              <button type="button" class="button primary" onClick={() => setAgreed(true)}>
                Load it
              </button>
            }
          >
            Each is one unit of the quota of this key.
          </Notice>
        ) : (
          <Candles bars={bars} marks={revisions.marks} label={summary(symbol, range, bars)} />
        )}
        {history.state === 'ready' && !mustAsk && bars.length === 0 && (
          <p class="hint" role="status">
            No prices in this range. Choose a longer one.
          </p>
        )}
        {history.state === 'loading' && !mustAsk && (
          <p class="hint" role="status">
            Loading…
          </p>
        )}
      </section>
      <Facts symbol={symbol} latest={rate} stale={stale} source={history.data?.source} holder={holder} />
      <Conversions symbol={symbol} units={units} latest={rate} />
      {history.data && (
        <RequestBox path={history.data.request} apiKey={apiKey} requests={history.data.requests} />
      )}
      <Revisions
        symbol={symbol}
        revisions={wantsRevisions ? revisions : undefined}
        onWant={() => setCorrections('1')}
      />
    </>
  );
}

function Title({
  symbol,
  latest,
  stale,
  before,
  delaySeconds = 0,
}: {
  symbol: MarketSymbol;
  latest?: Rate | undefined;
  stale?: boolean;
  /** The close of the day before. */
  before?: number | undefined;
  delaySeconds?: number;
}) {
  const change = latest && before !== undefined && before !== 0 ? latest.rate - before : undefined;
  return (
    <div class="page-head symbol-head">
      <div>
        <p class="crumb">
          <a href={linkToLastMarket()}>Market</a> / {symbol.category}
        </p>
        <h1>
          {symbol.name} <span class="code">{symbol.symbol}</span>
        </h1>
        <p class="lead">
          {symbol.currency.name} per{' '}
          {latest && latest.unit !== symbol.unit.symbol
            ? nameOfUnit(latest.unit)
            : symbol.unit.name.toLowerCase()}{' '}
          {latest?.source === 'simulated' && <span class="badge simulated">Simulated</span>}{' '}
          {delaySeconds > 0 && <span class="badge">{duration(delaySeconds)} behind</span>}{' '}
          {stale && <span class="badge warning">No new price for a while</span>}{' '}
          {symbol.status === 'deprecated' && <span class="badge warning">Deprecated</span>}
        </p>
      </div>
      {latest && (
        <p class="big-rate">
          <span class="big">
            <span class="sign">{symbol.currency.symbol}</span>
            {price(latest.rate)}
          </span>
          {change !== undefined && (
            <span class={trend(change)}>
              {signed(change, decimalsOf(latest.rate))} ({signed((change / Math.abs(before!)) * 100)} %)
            </span>
          )}
        </p>
      )}
    </div>
  );
}

/** The chart in a sentence, for screen readers. */
function summary({ name }: MarketSymbol, range: Range, bars: readonly ChartBar[]): string {
  const [first, last] = [bars[0], bars.at(-1)];
  if (!first || !last) return `Chart of ${name}`;
  const high = Math.max(...bars.map((bar) => bar.high));
  const low = Math.min(...bars.map((bar) => bar.low));
  return `Chart of ${name}, ${range}: from ${price(first.open)} on ${day(first.date)} to ${price(last.close)} on ${day(last.date)}, between ${price(low)} and ${price(high)}.`;
}
