import { type Inputs, useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { isOutage } from './client.ts';

/** How long after an outage to try again. */
const RETRY_MS = 3_000;

const LOADING = { state: 'loading', data: undefined, error: undefined } as const;

export type Loaded<T> =
  | { state: 'loading'; data: T | undefined; error: undefined }
  | { state: 'ready'; data: T; error: undefined }
  | { state: 'failed'; data: T | undefined; error: unknown };

/**
 * Loads something when its inputs change, and no longer shows what was loaded for others. `reload` loads it again and keeps
 * showing the old data until then. `refresh` does so unnoticed: it does nothing while something is loading, and leaves an error
 * on the screen until it succeeds. During an outage it tries again until the service is back.
 */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: Inputs,
): Loaded<T> & { reload(): void; refresh(): void } {
  const [turn, setTurn] = useState(0);
  const [result, setResult] = useState<Loaded<T> & { inputs: Inputs }>({ ...LOADING, inputs });
  const isCurrent = inputs.every((input, i) => input === result.inputs[i]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  /** Whether the next load leaves on the screen what is there. */
  const isUnnoticed = useRef(false);
  const isLoading = useRef(false);
  const refresh = useCallback(() => {
    if (isLoading.current) return;
    isUnnoticed.current = true;
    reload();
  }, []);
  useEffect(() => {
    const stop = new AbortController();
    let retry: ReturnType<typeof setTimeout> | undefined;
    if (!isCurrent) setResult({ ...LOADING, inputs });
    else if (!isUnnoticed.current) setResult((before) => ({ ...LOADING, data: before.data, inputs }));
    isUnnoticed.current = false;
    isLoading.current = true;
    load(stop.signal).then(
      (data) => {
        if (stop.signal.aborted) return;
        isLoading.current = false;
        setResult({ state: 'ready', data, error: undefined, inputs });
      },
      (error) => {
        if (stop.signal.aborted) return;
        isLoading.current = false;
        setResult((before) => ({ state: 'failed', data: before.data, error, inputs }));
        if (!isOutage(error)) return;
        retry = setTimeout(refresh, RETRY_MS);
      },
    );
    return () => {
      stop.abort();
      clearTimeout(retry);
    };
  }, [...inputs, turn]);
  return { ...(isCurrent ? result : LOADING), reload, refresh };
}

/** Refreshes periodically while the page is visible, and immediately when it becomes visible again. */
export function useRefresh(refresh: () => void, everyMs: number): void {
  useEffect(() => {
    const refreshVisible = () => !document.hidden && refresh();
    const timer = setInterval(refreshVisible, everyMs);
    document.addEventListener('visibilitychange', refreshVisible);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', refreshVisible);
    };
  }, [refresh, everyMs]);
}
