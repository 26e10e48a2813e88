import { useCallback, useEffect, useReducer, useRef } from 'preact/hooks';
import type { PlanRecord } from '../../api/answers.ts';
import { type Loaded, useLoad } from '../../api/load.ts';
import {
  type History,
  identityOf,
  isContinuedBy,
  isEmpty,
  loadHistory,
  prepend,
  type WantedHistory,
} from './history.ts';
import { type DaySpan, spanBefore } from './span.ts';

export interface LoadedHistory {
  state: Loaded<History>['state'];
  error: unknown;
  /** All bars. */
  data: History | undefined;
  /** Those of the range that is wanted. */
  recent: History | undefined;
  /** Those before. */
  older: History | undefined;
  reload(): void;
  /** Loads the recent bars again unnoticed. */
  refresh(): void;
  /** Loads the bars before the oldest one, if there are any. */
  loadOlder(): void;
  /** Loads the older bars again. Resolves to whether it succeeded. */
  refreshOlder(): Promise<boolean>;
  isLoadingOlder: boolean;
}

/** What is shown, until its successor is there. */
interface Shown {
  recent: History;
  older?: History;
  /** Whether there is nothing before the older bars. */
  isComplete?: boolean | undefined;
  /** Both, in one. */
  data: History;
}

/** The history of a chart, and older bars when the user pans to them. Undefined: nothing is wanted yet. */
export function useHistory(key: string, plan: PlanRecord, wanted: WantedHistory | undefined): LoadedHistory {
  const identity = wanted && identityOf(wanted);
  const loaded = useLoad(
    async (signal) => (wanted ? loadHistory(key, wanted, plan, signal) : undefined),
    [key, identity, plan.history],
  );
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  const shown = useRef<Shown>(undefined);
  const before = shown.current;
  const recent = loaded.data;
  if (recent && before?.recent !== recent) {
    const older = before && isContinuedBy(before.recent, recent) ? before.older : undefined;
    shown.current = older ? { ...before, recent, data: prepend(older, recent) } : { recent, data: recent };
  }
  const olderRequest = useRef<AbortController>(undefined);
  const stop = () => {
    olderRequest.current?.abort();
    olderRequest.current = undefined;
  };
  useEffect(() => stop, [key, identity]);
  /** Loads bars before the recent ones: all of the older bars again, or more of them. */
  const load = async ({ first, last }: DaySpan, isAgain: boolean): Promise<boolean> => {
    const request = new AbortController();
    olderRequest.current = request;
    redraw(undefined);
    const span = { ...wanted!, first, last };
    const found = await loadHistory(key, span, plan, request.signal).catch(() => undefined);
    if (olderRequest.current !== request) return false;
    olderRequest.current = undefined;
    const now = shown.current!;
    if (found) {
      const older = isAgain || !now.older ? found : prepend(found, now.older);
      const isComplete = isAgain ? now.isComplete : isEmpty(found);
      shown.current = { recent: now.recent, older, isComplete, data: prepend(older, now.recent) };
    }
    redraw(undefined);
    return found !== undefined;
  };
  const loadOlder = useCallback(() => {
    const now = shown.current;
    if (!wanted || !now || now.recent.id !== identity || now.isComplete) return;
    const span = spanBefore(now.data, now.data.interval, wanted.symbols);
    // After a failure, the next movement of the chart tries again.
    if (span && !olderRequest.current && plan.history) void load(span, false);
  }, [key, identity]);
  const refreshOlder = useCallback(async () => {
    const now = shown.current;
    if (!now?.older || now.recent.id !== identity) return true;
    stop();
    return load(now.older, true);
  }, [key, identity]);
  return {
    ...loaded,
    data: shown.current?.data,
    recent: shown.current?.recent,
    older: shown.current?.older,
    loadOlder,
    refreshOlder,
    isLoadingOlder: olderRequest.current !== undefined,
  };
}
