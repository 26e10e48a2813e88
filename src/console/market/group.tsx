import { useState } from 'preact/hooks';
import type { MarketSymbol } from '../api/answers.ts';
import type { MarketStore } from '../data/market.ts';
import { Row } from './row.tsx';

/** The groups of which this tab shows all rows, so that going back finds them as they were. */
const wholeGroups = new Set<string>();

/** A card with some symbols, which can be collapsed to its title. A long one may show only its first rows until asked for all. */
export function Group({
  name,
  symbols,
  rowsMax,
  store,
  isCollapsed,
  onToggle,
}: {
  name: string;
  symbols: readonly MarketSymbol[];
  rowsMax: number;
  store: MarketStore;
  isCollapsed: boolean;
  onToggle: () => void;
}) {
  const [isWhole, setWhole] = useState(() => wholeGroups.has(name));
  const shown = isWhole || symbols.length <= rowsMax ? symbols : symbols.slice(0, rowsMax);
  const showAll = () => {
    wholeGroups.add(name);
    setWhole(true);
  };
  const id = `group-${name.replaceAll(/\W+/g, '-')}`;
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
      <table class="quotes" id={id} hidden={isCollapsed}>
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
          {!isCollapsed && shown.map((symbol) => <Row key={symbol.symbol} symbol={symbol} store={store} />)}
        </tbody>
      </table>
      {!isCollapsed && shown.length < symbols.length && (
        <button type="button" class="show-all" onClick={showAll}>
          Show all {symbols.length} of {name}
        </button>
      )}
    </section>
  );
}
