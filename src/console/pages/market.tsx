import { useEffect, useMemo, useState } from 'preact/hooks';
import { type Holder, WithKey } from '../account/with-key.tsx';
import type { ConfigAnswer, MarketSymbol } from '../api/answers.ts';
import { ask, isAboutKey } from '../api/client.ts';
import { useLoad, useRefresh } from '../api/load.ts';
import { SORTINGS } from '../data/market/sorting.ts';
import type { MarketStore } from '../data/market/store.ts';
import { useMarket } from '../data/market/use-market.ts';
import { useParam } from '../data/route.ts';
import { readStored, writeStored } from '../data/stored.ts';
import { Group, ROWS_MAX } from '../market/group.tsx';
import {
  ALL,
  categoriesOf,
  filterSymbols,
  groupsOf,
  inColumns,
  type MarketGroup,
  rowsPerGroup,
  WATCHLIST,
} from '../market/groups.ts';
import { EmptyNotice, LiveBadge, SimulatedNotice } from '../market/notices.tsx';
import { useWatchlist } from '../market/watchlist.ts';
import { plural } from '../show/format.ts';
import { useMedia } from '../show/media.ts';
import { Choice, Failure, Loading, Notice } from '../show/parts.tsx';

/** How often the page checks whether markets have opened. */
const REOPEN_MS = 60_000;

/** In one column, the whole market would be dozens of screens long. */
const NARROW_ROWS = 10;

/** The title of a group is about as high as a row. */
const HEAD_ROWS = 1;

export function MarketPage({ config }: { config: ConfigAnswer }) {
  return (
    <WithKey config={config} shape="market">
      {(holder) => <Market config={config} holder={holder} />}
    </WithKey>
  );
}

function Market({ config, holder }: { config: ConfigAnswer; holder: Holder }) {
  const store = useMarket(holder.apiKey, 'with closes');
  const isForbidden = isAboutKey(store.error);
  useEffect(() => {
    if (isForbidden) holder.reload();
  }, [isForbidden]);
  if (store.symbols) return <Board symbols={store.symbols} store={store} config={config} holder={holder} />;
  if (store.error !== undefined) return <Failure error={store.error} onRetry={store.refresh} />;
  return <Loading label="Loading the market" shape="market" />;
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
  const [sort, setSort] = useParam('sort', 'Name');
  const { codes: watched } = useWatchlist();
  const { collapsed, collapsedBefore, toggle } = useCollapsed();
  const sorting = SORTINGS.find((one) => one === sort) ?? 'Name';
  const found = useMemo(
    () => filterSymbols(store.searchable, search, category, watched),
    [symbols, search, category, watched],
  );
  const categories = useMemo(() => [ALL, WATCHLIST, ...categoriesOf(symbols)], [symbols]);
  const groups = groupsOf(found, category, sorting, watched, store.rows);
  const priced = symbols.filter((one) => one.lastDate !== null).length;
  const isClosed = useIsClosed(config);
  const isWide = useMedia('(min-width: 981px)');
  const isShort = !isWide && groups.length > 1 && search === '';
  const rowsMax = isShort ? NARROW_ROWS : Math.max(NARROW_ROWS, rowsPerGroup(groups, ROWS_MAX));
  const [watchlist, others] = [groups.filter(isWatchlist), groups.filter((group) => !isWatchlist(group))];
  const heightOf = ({ name, symbols: own }: MarketGroup) =>
    HEAD_ROWS + (collapsedBefore.includes(name) ? 0 : Math.min(rowsMax, own.length));
  const columns = isWide && others.length > 1 ? inColumns(others, heightOf) : [others];
  const show = ({ name, symbols: own }: MarketGroup, isAlone = false) => (
    <Group
      key={name}
      name={name}
      symbols={own}
      search={search}
      rowsMax={rowsMax}
      isSplit={isWide && isAlone}
      store={store}
      isCollapsed={collapsed.includes(name)}
      onToggle={() => toggle(name)}
    />
  );
  return (
    <>
      <div class="page-head">
        <div>
          <h1>Market</h1>
          <p class="lead">
            {plural(priced, 'symbol')} with prices{' '}
            {priced > 0 && (
              <LiveBadge state={store.state} delaySeconds={holder.plan.delaySeconds} isClosed={isClosed} />
            )}
          </p>
        </div>
        <input
          type="search"
          class="search"
          placeholder="Filter: gold, crude, WHEAT…"
          aria-label="Search symbols"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </div>
      {config.simulated && <SimulatedNotice isOperator={config.admin} />}
      {priced === 0 && <EmptyNotice />}
      {typeof store.state === 'object' && <Failure error={store.error} onRetry={store.refresh} />}
      <div class="market-tools">
        <nav class="chips" aria-label="Categories">
          {categories.map((name) => (
            <button
              type="button"
              key={name}
              aria-pressed={name === category}
              onClick={() => setCategory(name)}
            >
              {name}
            </button>
          ))}
        </nav>
        <Choice label="Order" options={SORTINGS} value={sorting} onChange={setSort} />
      </div>
      <p class="visually-hidden" role="status">
        {plural(found.length, 'symbol')} shown
      </p>
      {found.length === 0 && symbols.length > 0 && (
        <NothingFound
          search={search.trim()}
          category={category}
          isKnown={categories.includes(category)}
          onReset={() => {
            setSearch('');
            setCategory(ALL);
          }}
        />
      )}
      {watchlist.length > 0 && <div class="market">{watchlist.map((group) => show(group, true))}</div>}
      <div class="market">
        {columns.map((column, i) => (
          <div class="market-column" key={i}>
            {column.map((group) => show(group, others.length === 1))}
          </div>
        ))}
      </div>
    </>
  );
}

function NothingFound({
  search,
  category,
  isKnown,
  onReset,
}: {
  search: string;
  category: string;
  /** Whether the category exists: a link may name another. */
  isKnown: boolean;
  onReset: () => void;
}) {
  const action = (
    <button type="button" class="button" onClick={onReset}>
      Show all
    </button>
  );
  if (search === '' && category === WATCHLIST) {
    return (
      <Notice title="You watch nothing yet." action={action}>
        The star next to a symbol adds it to the watchlist, which is stored in this browser.
      </Notice>
    );
  }
  if (!isKnown) return <Notice title={`There is no category “${category}”.`} action={action} />;
  const where = category === ALL ? '' : category === WATCHLIST ? ' in your watchlist' : ` in ${category}`;
  return (
    <Notice title={`Nothing${where} matches “${search}”.`} action={action}>
      Search by code, name, ticker, category or unit.
    </Notice>
  );
}

function isWatchlist({ name }: MarketGroup): boolean {
  return name === WATCHLIST;
}

/** The groups that are collapsed, kept in this browser. Toggling a group moves none of the others to another column. */
function useCollapsed() {
  const [collapsedBefore] = useState(() => readStored('collapsed'));
  const [collapsed, setCollapsed] = useState(collapsedBefore);
  const toggle = (name: string) => {
    const next = collapsed.includes(name) ? collapsed.filter((one) => one !== name) : [...collapsed, name];
    writeStored('collapsed', next);
    setCollapsed(next);
  };
  return { collapsed, collapsedBefore, toggle };
}

/** Whether all markets are closed, as on weekends. */
function useIsClosed(config: ConfigAnswer): boolean {
  const loaded = useLoad(() => ask<ConfigAnswer>('/console/config'), []);
  useRefresh(loaded.refresh, REOPEN_MS);
  return (loaded.data ?? config).closed;
}
