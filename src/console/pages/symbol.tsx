import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Bar, ConfigAnswer, LatestAnswer, MarketSymbol, Rate } from '../data/answers.ts';
import { ApiError, askWithKey } from '../data/client.ts';
import { listen } from '../data/events.ts';
import { has } from '../data/features.ts';
import { type History, loadHistory, RANGES, type Range, requestsFor } from '../data/history.ts';
import { useLoad } from '../data/load.ts';
import { linkTo } from '../data/route.ts';
import { Candles } from '../show/candles.tsx';
import { downloadCsv } from '../show/csv.ts';
import { ago, day, decimalsOf, duration, plural, price, signed, trend } from '../show/format.ts';
import { Choice, Failure, Loading, Notice } from '../show/parts.tsx';
import { RequestBox } from '../show/request.tsx';
import { Revisions, useRevisions } from '../show/revisions.tsx';
import { type Holder, WithKey } from '../show/with-key.tsx';

/** A range that takes more requests than this is asked about before: they come out of the quota. */
const REQUESTS_UNASKED_MAX = 15;

export function SymbolPage({ code, config }: { code: string; config: ConfigAnswer }) {
  return <WithKey config={config}>{(holder) => <Found code={code} holder={holder} />}</WithKey>;
}

function Found({ code, holder }: { code: string; holder: Holder }) {
  const symbols = useLoad(
    async () => (await askWithKey<{ symbols: MarketSymbol[] }>(holder.apiKey, '/symbols')).symbols,
    [holder.apiKey],
  );
  if (symbols.state === 'failed') return <Failure error={symbols.error} onRetry={symbols.reload} />;
  if (!symbols.data) return <Loading label={`Loading ${code}`} lines={8} />;
  const symbol = symbols.data.find((one) => one.symbol === code);
  if (!symbol) {
    return (
      <Notice title={`There is no symbol “${code}”.`}>
        <a href={linkTo('market')}>Find another in the market</a>.
      </Notice>
    );
  }
  if (symbol.lastDate === null) {
    return (
      <>
        <Title symbol={symbol} />
        <Notice title="No prices yet">
          {symbol.name} is in the catalogue, and nothing has been imported for it so far.
        </Notice>
      </>
    );
  }
  return <Detail symbol={symbol} holder={holder} />;
}

function Detail({ symbol, holder }: { symbol: MarketSymbol; holder: Holder }) {
  const [range, setRange] = useState<Range>(() => (has('/rates/history') ? '6M' : '1M'));
  const [agreed, setAgreed] = useState(false);
  const { apiKey, plan } = holder;
  const requests = requestsFor(range, symbol, plan);
  const mustAsk = requests > REQUESTS_UNASKED_MAX && !agreed;
  const [partial, setPartial] = useState<Bar[]>();
  const history = useLoad(
    async (signal) => {
      setPartial(undefined);
      if (mustAsk) return undefined;
      return loadHistory(apiKey, symbol, range, plan, setPartial, signal);
    },
    [apiKey, symbol, range, mustAsk],
  );
  const latest = useLatest(apiKey, symbol);
  const revisions = useRevisions(apiKey, symbol, history.data?.bars);
  const bars = useLiveBars(history.data, partial, latest.rate);
  return (
    <>
      <Title
        symbol={symbol}
        latest={latest.rate}
        stale={latest.stale}
        bars={bars}
        delaySeconds={plan.delaySeconds}
      />
      {latest.error !== undefined && <Failure error={latest.error} />}
      <section class="card" aria-label="Chart">
        <div class="card-head">
          <Choice label="Range" options={RANGES} value={range} onChange={setRange} />
          <button
            type="button"
            class="button small"
            disabled={!history.data}
            onClick={() => history.data && downloadCsv(symbol, range, history.data)}
          >
            Download CSV
          </button>
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
        {history.state === 'loading' && !mustAsk && (
          <p class="hint" role="status">
            Loading…
          </p>
        )}
      </section>
      <Facts
        symbol={symbol}
        latest={latest.rate}
        stale={latest.stale}
        source={history.data?.source}
        plan={plan.name}
        delaySeconds={plan.delaySeconds}
      />
      {history.data && (
        <RequestBox path={history.data.request} apiKey={apiKey} requests={history.data.requests} />
      )}
      <Revisions found={revisions.found} />
    </>
  );
}

function Title({
  symbol,
  latest,
  stale,
  bars = [],
  delaySeconds = 0,
}: {
  symbol: MarketSymbol;
  latest?: Rate | undefined;
  stale?: boolean;
  bars?: readonly Bar[];
  delaySeconds?: number;
}) {
  const before = latest && bars.findLast(({ date }) => date < latest.date)?.close;
  const change = latest && before !== undefined && before !== 0 ? latest.rate - before : undefined;
  return (
    <div class="page-head symbol-head">
      <div>
        <p class="crumb">
          <a href={linkTo('market')}>Market</a> / {symbol.category}
        </p>
        <h1>
          {symbol.name} <span class="code">{symbol.symbol}</span>
        </h1>
        <p class="lead">
          {symbol.currency.name} per {symbol.unit.name.toLowerCase()}
          {latest?.source === 'simulated' && <span class="badge simulated">Simulated</span>}
          {delaySeconds > 0 && <span class="badge">{duration(delaySeconds)} behind</span>}
          {stale && <span class="badge warning">No new price for a while</span>}
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

function Facts({
  symbol,
  latest,
  stale,
  source,
  plan,
  delaySeconds,
}: {
  symbol: MarketSymbol;
  latest: Rate | undefined;
  stale: boolean;
  source: string | undefined;
  plan: string;
  delaySeconds: number;
}) {
  const delay = delaySeconds > 0 ? `, ${duration(delaySeconds)} behind on the plan “${plan}”` : '';
  const facts: [string, string][] = [
    ['Unit', `${symbol.unit.name} (${symbol.unit.symbol})`],
    ['Currency', `${symbol.currency.name} (${symbol.currency.code})`],
    ['Source', latest?.source ?? source ?? '…'],
    ['Newest price', latest ? `${ago(latest.at)}${stale ? ', older than it should be' : ''}${delay}` : '…'],
    [
      'Published',
      { minute: 'while the market is open', day: 'daily', week: 'weekly', month: 'monthly' }[
        symbol.updateInterval
      ],
    ],
    ['History', symbol.firstDate ? `since ${day(symbol.firstDate)}` : 'none'],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The newest price: asked for once, then listened to. */
function useLatest(key: string, { symbol }: MarketSymbol) {
  const [rate, setRate] = useState<Rate>();
  const [stale, setStale] = useState(false);
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    askWithKey<LatestAnswer>(key, `/rates/latest?symbols=${encodeURIComponent(symbol)}`).then(
      ({ metadata }) => setStale(metadata?.[symbol]?.stale ?? false),
      setError,
    );
    return listen(
      `/rates/stream?symbols=${encodeURIComponent(symbol)}`,
      { 'x-api-key': key },
      {
        onState: (state) =>
          setError(state === 'lost' ? new ApiError(0, 'offline', 'Trying again…') : undefined),
        onEnd: (status, message) => setError(new ApiError(status, 'ended', message)),
        onEvent: (event, data) => event === 'rate' && setRate(JSON.parse(data) as Rate),
      },
    );
  }, [key, symbol]);
  return { rate, stale, error };
}

/** The bars with the newest price in the last of them. */
function useLiveBars(
  history: History | undefined,
  partial: Bar[] | undefined,
  latest: Rate | undefined,
): Bar[] {
  return useMemo(() => {
    const bars = history?.bars ?? partial ?? [];
    const last = bars.at(-1);
    if (!last || !latest || history?.interval !== 'day' || latest.date < last.date) return bars;
    const { rate, date } = latest;
    if (date > last.date) return [...bars, { date, open: rate, high: rate, low: rate, close: rate }];
    const live = { ...last, high: Math.max(last.high, rate), low: Math.min(last.low, rate), close: rate };
    return [...bars.slice(0, -1), live];
  }, [history, partial, latest]);
}

/** The chart in a sentence, for who cannot see it. */
function summary({ name }: MarketSymbol, range: Range, bars: readonly Bar[]): string {
  const [first, last] = [bars[0], bars.at(-1)];
  if (!first || !last) return `Chart of ${name}`;
  const high = Math.max(...bars.map((bar) => bar.high));
  const low = Math.min(...bars.map((bar) => bar.low));
  return `Chart of ${name}, ${range}: from ${price(first.open)} on ${day(first.date)} to ${price(last.close)} on ${day(last.date)}, between ${price(low)} and ${price(high)}.`;
}
