import { useCallback, useEffect, useRef } from 'preact/hooks';
import type { Quote } from '../../api/answers.ts';
import { useRefresh } from '../../api/load.ts';
import { loadModule } from '../../api/load-module.ts';
import { codesIn } from '../formula.ts';
import type { MarketRows } from '../market/rows.ts';
import type { ChangeWatch } from './change-watch.ts';
import type { History } from './history.ts';
import type { LoadedHistory } from './use-history.ts';

const FIRST_CHECK_MS = 5_000;
const CHECK_MS = 60_000;

/** Loads a history again when prices of its past days are imported, corrected, or no longer simulated, or when a day ends. */
export function useChanges(key: string, { data, refresh }: LoadedHistory, rows: MarketRows): void {
  /** Its code is loaded with the first check, long after the first chart. */
  const watch = useRef<ChangeWatch>(undefined);
  const loaded = useRef<{ id: string; quotes: readonly (Quote | undefined)[] }>(undefined);
  const codes = codesOf(data?.series ?? []);
  const quotes = codes.map((code) => rows.get(code)?.quote);
  if (data && loaded.current?.id !== data.id) loaded.current = { id: data.id, quotes };
  const check = async () => {
    if (!data || document.hidden) return;
    watch.current ??= new (await loadModule(() => import('./change-watch.ts'))).ChangeWatch(key);
    if (await watch.current.hasChanged(data, codes, loaded.current!.quotes, quotes)) refresh();
  };
  const latest = useRef(check);
  latest.current = check;
  const checkNow = useCallback(() => void latest.current(), []);
  useEffect(() => {
    const timer = setTimeout(checkNow, FIRST_CHECK_MS);
    return () => clearTimeout(timer);
  }, [data?.id]);
  useRefresh(checkNow, CHECK_MS);
}

function codesOf(series: History['series']): string[] {
  return [...new Set(series.flatMap(({ symbol }) => codesIn(symbol.formula ?? symbol.symbol)))];
}
