import { useCallback, useEffect, useReducer, useRef } from 'preact/hooks';
import type { PlanRecord } from '../../api/answers.ts';
import { type Loaded, useLoad } from '../../api/load.ts';
import {
  type History,
  hasLongHistory,
  identityOf,
  loadHistory,
  prepend,
  type WantedHistory,
  withOlder,
} from './history.ts';
import { spanBefore } from './span.ts';

export interface LoadedHistory {
  state: Loaded<History>['state'];
  error: unknown;
  data: History | undefined;
  reload(): void;
  /** Loads it again unnoticed. */
  refresh(): void;
  /** Loads the bars before the oldest one, if there are any. */
  loadOlder(): void;
  isLoadingOlder: boolean;
}

/** The history of a chart, and older bars when the user pans to them. Undefined: nothing is wanted yet. */
export function useHistory(key: string, plan: PlanRecord, wanted: WantedHistory | undefined): LoadedHistory {
  const identity = wanted && identityOf(wanted);
  const { state, error, reload, refresh, data } = useLoad(
    async (signal) => (wanted ? loadHistory(key, wanted, plan, signal) : undefined),
    [key, identity],
  );
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  /** What is shown: the newest history with its older bars, which stays until its successor is there. */
  const shown = useRef<{ loaded: History; extended: History }>(undefined);
  const before = shown.current;
  if (data && before?.loaded !== data) {
    const extended = before?.loaded.id === data.id ? withOlder(data, before.extended) : data;
    shown.current = { loaded: data, extended };
  }
  const olderRequest = useRef<AbortController>(undefined);
  useEffect(
    () => () => {
      olderRequest.current?.abort();
      olderRequest.current = undefined;
    },
    [key, identity],
  );
  const loadOlder = useCallback(async () => {
    const { loaded, extended } = shown.current ?? {};
    if (!wanted || !loaded || !extended || loaded.id !== identity) return;
    const span = spanBefore(extended, extended.interval, wanted.symbols);
    if (!span || olderRequest.current || !hasLongHistory(plan)) return;
    const request = new AbortController();
    olderRequest.current = request;
    redraw(undefined);
    // After a failure, the next movement of the chart tries again.
    const older = await loadHistory(key, { ...wanted, ...span }, plan, request.signal).catch(() => undefined);
    if (olderRequest.current !== request) return;
    olderRequest.current = undefined;
    if (older) shown.current = { loaded, extended: prepend(older, extended) };
    redraw(undefined);
  }, [key, identity]);
  return {
    state,
    error,
    reload,
    refresh,
    data: shown.current?.extended,
    loadOlder,
    isLoadingOlder: olderRequest.current !== undefined,
  };
}
