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

/**
 * Loads a history again when prices of its past days are imported, corrected, or no longer simulated, or when a day ends: its
 * recent or its older bars, whichever have changed.
 */
export function useChanges(key: string, history: LoadedHistory, rows: MarketRows): void {
  const { recent, older, refresh, refreshOlder } = history;
  /** Their code is loaded with the first check, long after the first chart. */
  const watches = useRef<Record<'recent' | 'older', ChangeWatch>>(undefined);
  const isOlderOutdated = useRef(false);
  const loaded = useRef<{ id: string; quotes: readonly (Quote | undefined)[] }>(undefined);
  const codes = codesOf(recent?.series ?? []);
  const quotes = codes.map((code) => rows.get(code)?.quote);
  if (recent && loaded.current?.id !== recent.id) loaded.current = { id: recent.id, quotes };
  const check = async () => {
    if (!recent || document.hidden) return;
    if (!watches.current) {
      const { ChangeWatch } = await loadModule(() => import('./change-watch.ts'));
      watches.current ??= { recent: new ChangeWatch(key), older: new ChangeWatch(key) };
    }
    const watch = watches.current;
    if (await watch.recent.hasChanged(recent, codes, loaded.current!.quotes, quotes)) return refresh();
    if (!older) return;
    if (await watch.older.hasChanged(older, codes, [], [])) isOlderOutdated.current = true;
    if (isOlderOutdated.current) isOlderOutdated.current = !(await refreshOlder());
  };
  const latest = useRef(check);
  latest.current = check;
  const checkNow = useCallback(() => void latest.current(), []);
  useEffect(() => {
    const timer = setTimeout(checkNow, FIRST_CHECK_MS);
    return () => clearTimeout(timer);
  }, [recent?.id, older?.first]);
  useRefresh(checkNow, CHECK_MS);
}

function codesOf(series: History['series']): string[] {
  return [...new Set(series.flatMap(({ symbol }) => codesIn(symbol.formula ?? symbol.symbol)))];
}
