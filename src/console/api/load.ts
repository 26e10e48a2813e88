import { type Inputs, useCallback, useEffect, useState } from 'preact/hooks';

export type Loaded<T> =
  | { state: 'loading'; data: T | undefined; error: undefined }
  | { state: 'ready'; data: T; error: undefined }
  | { state: 'failed'; data: T | undefined; error: unknown };

/** Loads something when its inputs change; `reload` loads it again and keeps showing the old data until then. */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: Inputs,
): Loaded<T> & { reload(): void } {
  const [turn, setTurn] = useState(0);
  const [result, setResult] = useState<Loaded<T>>({ state: 'loading', data: undefined, error: undefined });
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  useEffect(() => {
    const stop = new AbortController();
    setResult((before) => ({
      state: 'loading',
      data: turn > 0 ? before.data : undefined,
      error: undefined,
    }));
    load(stop.signal).then(
      (data) => {
        if (!stop.signal.aborted) setResult({ state: 'ready', data, error: undefined });
      },
      (error) => {
        if (!stop.signal.aborted) setResult((before) => ({ state: 'failed', data: before.data, error }));
      },
    );
    return () => stop.abort();
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
