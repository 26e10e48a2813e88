import { useEffect, useState } from 'preact/hooks';

/** How often ages are counted again. */
const TICK_MS = 15_000;

const listeners = new Set<(now: number) => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** The time; re-renders four times a minute. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    listeners.add(setNow);
    timer ??= setInterval(tick, TICK_MS);
    return () => {
      listeners.delete(setNow);
      if (listeners.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, []);
  return now;
}

function tick(): void {
  const now = Date.now();
  for (const listener of listeners) listener(now);
}
