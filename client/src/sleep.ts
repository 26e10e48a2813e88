import type { CancelSignal } from './options.ts';

/** Waits, or throws the reason of the signal. */
export function sleep(ms: number, signal: CancelSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end);
  });
}

/** The wait before another try: it doubles each time, up to 30 s, and is random so that clients do not retry at the same time. */
export function backoffMs(tries: number, firstMs = 500): number {
  return Math.min(30_000, firstMs * 2 ** tries) * (0.5 + Math.random() / 2);
}
