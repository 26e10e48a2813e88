import { useReducer } from 'preact/hooks';
import type { MarketSymbol } from '../api/answers.ts';
import type { MarketStore } from '../data/market/store.ts';
import { Row } from './row.tsx';

/**
 * How many rows a page shows at first, and how many more at each request. The catalogue of a new service has fewer. With 1,500
 * rows, each key in the search field took up to two seconds.
 */
export const ROWS_MAX = 250;

/** How many rows this tab shows of the groups that the user has expanded, so that going back finds them as they were. */
const expandedRows = new Map<string, number>();

/** A card with some symbols, which can be collapsed to its title. A long one shows only its first rows until the user expands it. */
export function Group({
  name,
  symbols,
  search,
  rowsMax,
  isSplit,
  store,
  isCollapsed,
  onToggle,
}: {
  name: string;
  symbols: readonly MarketSymbol[];
  /** What the symbols were searched for. A group that is expanded is so for this search only. */
  search: string;
  rowsMax: number;
  /** Whether the rows go on in a second column. */
  isSplit: boolean;
  store: MarketStore;
  isCollapsed: boolean;
  onToggle: () => void;
}) {
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  const key = `${name} ${search}`;
  const shown = symbols.slice(0, Math.max(rowsMax, expandedRows.get(key) ?? 0));
  const more = Math.min(ROWS_MAX, symbols.length - shown.length);
  const half = isSplit ? Math.ceil(shown.length / 2) : shown.length;
  const columns = [shown.slice(0, half), shown.slice(half)].filter((rows) => rows.length > 0);
  const showMore = () => {
    expandedRows.set(key, shown.length + more);
    redraw(undefined);
  };
  const id = `group-${name.replaceAll(/\s+/g, '-')}`;
  return (
    <section class="card flush" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>
        <button
          type="button"
          class="group-toggle"
          aria-expanded={!isCollapsed}
          aria-controls={id}
          onClick={onToggle}
        >
          {name} <small>{symbols.length}</small>
        </button>
      </h2>
      <div id={id} class="group-columns" hidden={isCollapsed}>
        {!isCollapsed && columns.map((rows, i) => <Quotes key={i} symbols={rows} store={store} />)}
      </div>
      {!isCollapsed && more > 0 && (
        <button type="button" class="show-all" onClick={showMore}>
          {shown.length + more === symbols.length ? `Show all ${symbols.length}` : `Show ${more} more`} of{' '}
          {name}
        </button>
      )}
    </section>
  );
}

function Quotes({ symbols, store }: { symbols: readonly MarketSymbol[]; store: MarketStore }) {
  return (
    <table class="quotes">
      <colgroup>
        <col class="cell-star" />
        <col />
        <col class="cell-line" />
        <col class="cell-rate" />
        <col class="cell-change" />
      </colgroup>
      <thead class="visually-hidden">
        <tr>
          <th scope="col">Watch</th>
          <th scope="col">Symbol</th>
          <th scope="col">Last weeks</th>
          <th scope="col">Rate</th>
          <th scope="col">Change</th>
        </tr>
      </thead>
      <tbody>
        {symbols.map((symbol) => (
          <Row key={symbol.symbol} symbol={symbol} store={store} />
        ))}
      </tbody>
    </table>
  );
}
