import { type Inputs, useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { isOutage } from './client.ts';

/** How long after an outage to try again. */
const RETRY_MS = 3_000;

export type Loaded<T> =
  | { state: 'loading'; data: T | undefined; error: undefined }
  | { state: 'ready'; data: T; error: undefined }
  | { state: 'failed'; data: T | undefined; error: unknown };

/**
 * Loads something when its inputs change; `reload` loads it again and keeps showing the old data until then. During an outage it
 * tries again until the service is back.
 */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: Inputs,
): Loaded<T> & { reload(): void } {
  const [turn, setTurn] = useState(0);
  const [result, setResult] = useState<Loaded<T>>({ state: 'loading', data: undefined, error: undefined });
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  /** Whether the next load is a retry. It leaves the error on the screen until it succeeds. */
  const isRetry = useRef(false);
  useEffect(() => {
    const stop = new AbortController();
    let retry: ReturnType<typeof setTimeout> | undefined;
    if (!isRetry.current) {
      setResult((before) => ({
        state: 'loading',
        data: turn > 0 ? before.data : undefined,
        error: undefined,
      }));
    }
    isRetry.current = false;
    load(stop.signal).then(
      (data) => {
        if (!stop.signal.aborted) setResult({ state: 'ready', data, error: undefined });
      },
      (error) => {
        if (stop.signal.aborted) return;
        setResult((before) => ({ state: 'failed', data: before.data, error }));
        if (!isOutage(error)) return;
        retry = setTimeout(() => {
          isRetry.current = true;
          reload();
        }, RETRY_MS);
      },
    );
    return () => {
      stop.abort();
      clearTimeout(retry);
    };
  }, [...inputs, turn]);
  return { ...result, reload };
}

/** Reloads periodically while the page is visible, and immediately when it becomes visible again. */
export function useRefresh(reload: () => void, everyMs: number): void {
  useEffect(() => {
    const refresh = () => !document.hidden && reload();
    const timer = setInterval(refresh, everyMs);
    document.addEventListener('visibilitychange', refresh);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', refresh);
    };
  }, [reload, everyMs]);
}
