import { useState } from 'preact/hooks';
import type { MarketSymbol } from '../api/answers.ts';
import type { MarketStore } from '../data/market/store.ts';
import { Row } from './row.tsx';

/** The groups of which this tab shows all rows, so that going back finds them as they were. */
const wholeGroups = new Set<string>();

/** A card with some symbols, which can be collapsed to its title. A long one shows only its first rows until the user expands it. */
export function Group({
  name,
  symbols,
  rowsMax,
  isSplit,
  store,
  isCollapsed,
  onToggle,
}: {
  name: string;
  symbols: readonly MarketSymbol[];
  rowsMax: number;
  /** Whether the rows go on in a second column. */
  isSplit: boolean;
  store: MarketStore;
  isCollapsed: boolean;
  onToggle: () => void;
}) {
  const [isWhole, setWhole] = useState(() => wholeGroups.has(name));
  const shown = isWhole || symbols.length <= rowsMax ? symbols : symbols.slice(0, rowsMax);
  const half = isSplit ? Math.ceil(shown.length / 2) : shown.length;
  const columns = [shown.slice(0, half), shown.slice(half)].filter((rows) => rows.length > 0);
  const showAll = () => {
    wholeGroups.add(name);
    setWhole(true);
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
      {!isCollapsed && shown.length < symbols.length && (
        <button type="button" class="show-all" onClick={showAll}>
          Show all {symbols.length} of {name}
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
