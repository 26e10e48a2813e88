import { useEffect, useReducer } from 'preact/hooks';
import type { MarketRow } from './rows.ts';
import { MarketStore } from './store.ts';

/**
 * The market of a key: with recent closes, or only the symbols that are named. Re-renders when the list of symbols or the state
 * changes.
 */
export function useMarket(
  key: string,
  needs: 'with closes' | 'all symbols' | readonly string[],
): MarketStore {
  const store = marketOf(key);
  if (needs === 'with closes') store.requireCloses();
  else if (needs === 'all symbols') store.requireAll();
  else store.require(needs);
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  useEffect(() => store.subscribe(() => redraw(undefined)), [store]);
  useEffect(store.refresh, [store, String(needs)]);
  return store;
}

/** The row of a symbol; re-renders when it changes. */
export function useMarketRow(store: MarketStore, code: string): MarketRow | undefined {
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  useEffect(() => store.rows.watch(code, () => redraw(undefined)), [store, code]);
  return store.rows.get(code);
}

let newest: { key: string; store: MarketStore } | undefined;

function marketOf(key: string): MarketStore {
  if (newest?.key !== key) newest = { key, store: new MarketStore(key) };
  return newest.store;
}
