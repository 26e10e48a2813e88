import { memo } from 'preact/compat';
import { useMemo } from 'preact/hooks';
import { type Holder, WithKey } from '../account/with-key.tsx';
import type { ConfigAnswer, MarketSymbol, Quote } from '../api/answers.ts';
import { ask } from '../api/client.ts';
import { useLoad, useRefresh } from '../api/load.ts';
import { Sparkline } from '../charts/sparkline.tsx';
import {
  changeOf,
  type LiveState,
  type MarketRow,
  type MarketStore,
  useMarket,
  useMarketRow,
} from '../data/market.ts';
import { linkTo, useParam } from '../data/route.ts';
import { SORTINGS, sorted } from '../data/sorting.ts';
import { ago, decimalsOf, duration, plural, price, signed, trend } from '../show/format.ts';
import { Choice, Failure, Loading, Notice } from '../show/parts.tsx';

const ALL = 'All';

/** A line of several weeks needs few updates: it re-renders four times a minute. */
const SPARKLINE_MS = 15_000;

/** What most people look for comes first; a category that is not named here comes after. */
const ORDER = ['Metals', 'Energy', 'Agriculture', 'Livestock', 'Industrial', 'Raw Materials'];

/** How often the page asks whether markets have opened. */
const REOPEN_MS = 60_000;

export function MarketPage({ config }: { config: ConfigAnswer }) {
  return <WithKey config={config}>{(holder) => <Market config={config} holder={holder} />}</WithKey>;
}

function Market({ config, holder }: { config: ConfigAnswer; holder: Holder }) {
  const store = useMarket(holder.apiKey, 'with closes');
  if (store.symbols) return <Board symbols={store.symbols} store={store} config={config} holder={holder} />;
  if (store.error !== undefined) return <Failure error={store.error} onRetry={store.refresh} />;
  return <Loading label="Loading the market" lines={12} />;
}

function Board({
  symbols,
  store,
  config,
  holder,
}: {
  symbols: readonly MarketSymbol[];
  store: MarketStore;
  config: ConfigAnswer;
  holder: Holder;
}) {
  const [search, setSearch] = useParam('q', '');
  const [category, setCategory] = useParam('category', ALL);
  const found = useMemo(() => filter(symbols, search, category), [symbols, search, category]);
  const [sort, setSort] = useParam('sort', 'Name');
  const sorting = SORTINGS.find((one) => one === sort) ?? 'Name';
  const groups = Map.groupBy(sorted(found, sorting, store), (one) => one.category);
  const categories = useMemo(() => [ALL, ...categoriesOf(symbols)], [symbols]);
  const priced = symbols.filter((one) => one.lastDate !== null).length;
  const isClosed = useIsClosed(config);
  return (
    <>
      <div class="page-head">
        <div>
          <h1>Market</h1>
          <p class="lead">
            {plural(priced, 'symbol')} with prices{' '}
            <Live
              state={store.state}
              delaySeconds={holder.plan.delaySeconds}
              hasPrices={priced > 0}
              isClosed={isClosed}
            />
          </p>
        </div>
        <input
          type="search"
          class="search"
          placeholder="Search gold, crude, WHEAT…"
          aria-label="Search symbols"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </div>
      {config.simulated && <SimulatedNotice isOperator={config.admin} />}
      {priced === 0 && <Empty />}
      {typeof store.state === 'object' && <Failure error={store.error} onRetry={store.refresh} />}
      <Choice label="Order" options={SORTINGS} value={sorting} onChange={setSort} />
      <nav class="chips" aria-label="Categories">
        {categories.map((name) => (
          <button type="button" key={name} aria-pressed={name === category} onClick={() => setCategory(name)}>
            {name}
          </button>
        ))}
      </nav>
      <p class="visually-hidden" role="status">
        {plural(found.length, 'symbol')} shown
      </p>
      {found.length === 0 && (
        <Notice
          title={`Nothing matches “${search}”.`}
          action={
            <button
              type="button"
              class="button"
              onClick={() => {
                setSearch('');
                setCategory(ALL);
              }}
            >
              Show all
            </button>
          }
        >
          Search by code, name, category or unit.
        </Notice>
      )}
      <div class="market">
        {categoriesOf(found).map((name) => (
          <section class="card flush" key={name} aria-labelledby={`category-${name}`}>
            <h2 id={`category-${name}`}>
              {name} <small>{groups.get(name)!.length}</small>
            </h2>
            <table class="quotes">
              <colgroup>
                <col />
                <col class="cell-line" />
                <col class="cell-rate" />
                <col class="cell-change" />
              </colgroup>
              <thead class="visually-hidden">
                <tr>
                  <th scope="col">Symbol</th>
                  <th scope="col">Last weeks</th>
                  <th scope="col">Rate</th>
                  <th scope="col">Change</th>
                </tr>
              </thead>
              <tbody>
                {groups.get(name)!.map((symbol) => (
                  <Row key={symbol.symbol} symbol={symbol} store={store} />
                ))}
              </tbody>
            </table>
          </section>
        ))}
      </div>
    </>
  );
}

/** One line of the board. It re-renders only when its own quote changes. */
const Row = memo(function Row({ symbol, store }: { symbol: MarketSymbol; store: MarketStore }) {
  const row = useMarketRow(store, symbol.symbol);
  const quote = row?.quote;
  const change = quote && changeOf(quote);
  const quarterMinute = Math.floor(Date.now() / SPARKLINE_MS);
  const values = useMemo(() => (row ? lineOf(row) : ''), [row?.closes, quarterMinute]);
  const moved = row?.direction ? (row.direction > 0 ? 'moved-up' : 'moved-down') : '';
  return (
    <tr>
      <th scope="row">
        <a href={linkTo('symbol', symbol.symbol)}>
          <span class="name">{symbol.name}</span>
          <span class="code">{symbol.symbol}</span>
        </a>
        {quote && <Origin quote={quote} />}
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
      <td class={`cell-change ${trend(change?.absolute)}`}>
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

/** Whether a rate is real, with its source and age, or simulated. */
function Origin({ quote: { source, at } }: { quote: Quote }) {
  if (source === 'simulated') return <span class="origin simulated">simulated</span>;
  return (
    <span class="origin" title={`Real price from ${source}, ${at}`}>
      {source} · {ago(at.length > 10 ? at : `${at}T00:00:00Z`)}
    </span>
  );
}

/** How to replace simulated prices. */
function SimulatedNotice({ isOperator }: { isOperator: boolean }) {
  return (
    <Notice kind="warning" title="Prices marked “simulated” are made up.">
      <p>They follow real levels of the past, and mean nothing. Real prices are one command away:</p>
      <pre>
        <code>npx openpit feed enable --all</code>
      </pre>
      <p>
        Without a network, <code>npx openpit sample load</code> loads real history that comes with the
        program.
        {isOperator && ' Both are buttons on the operator’s page, too.'}
      </p>
    </Notice>
  );
}

/** Whether all markets are closed, as on weekends. */
function useIsClosed(config: ConfigAnswer): boolean {
  const loaded = useLoad(() => ask<ConfigAnswer>('/console/config'), []);
  useRefresh(loaded.reload, REOPEN_MS);
  return (loaded.data ?? config).closed;
}

function Live({
  state,
  delaySeconds,
  hasPrices,
  isClosed,
}: {
  state: LiveState;
  delaySeconds: number;
  hasPrices: boolean;
  isClosed: boolean;
}) {
  if (!hasPrices) return null;
  const delay = delaySeconds > 0 ? `, ${duration(delaySeconds)} behind` : '';
  if (typeof state === 'object') return <span class="live ended">not up to date</span>;
  if (state === 'lost') return <span class="live lost">connection lost, trying again…</span>;
  if (state === 'connecting') return <span class="live">connecting…</span>;
  if (isClosed) return <span class="live">markets closed</span>;
  return <span class="live on">live{delay}</span>;
}

function Empty() {
  return (
    <Notice title="There are no prices in the ledger yet.">
      <p>
        The symbols below are the catalogue. Bring prices in from public sources or from a file, and they show
        here:
      </p>
      <pre>
        <code>npx openpit feed enable --all</code>
        {'\n'}
        <code>npx openpit import wti-daily.csv --symbol WTIOIL-SPOT --source eia</code>
      </pre>
    </Notice>
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

function categoriesOf(symbols: readonly MarketSymbol[]): string[] {
  const place = (name: string) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  const names = new Set(symbols.map((one) => one.category));
  return [...names].sort((a, b) => place(a) - place(b) || a.localeCompare(b));
}

function filter(symbols: readonly MarketSymbol[], search: string, category: string): MarketSymbol[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = symbols.filter((one) => {
    if (category !== ALL && one.category !== category) return false;
    const text =
      `${one.symbol} ${one.name} ${one.category} ${one.unit.name} ${one.currency.code}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return found.sort((a, b) => a.name.localeCompare(b.name));
}
