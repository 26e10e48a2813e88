import type { MarketSymbol } from '../api/answers.ts';
import type { MarketStore } from '../data/market.ts';
import { Row } from './row.tsx';

/** A card with some symbols, which can be collapsed to its title. */
export function Group({
  name,
  symbols,
  store,
  isCollapsed,
  onToggle,
}: {
  name: string;
  symbols: readonly MarketSymbol[];
  store: MarketStore;
  isCollapsed: boolean;
  onToggle: () => void;
}) {
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
          {!isCollapsed && symbols.map((symbol) => <Row key={symbol.symbol} symbol={symbol} store={store} />)}
        </tbody>
      </table>
    </section>
  );
}
