import { useEffect, useRef, useState } from 'preact/hooks';
import { isOutage } from '../api/client.ts';
import { untilServiceIsUp } from '../api/load-module.ts';

/** A failure can be read even if the service responds again at once. */
const SHOWN_MS_MIN = 8_000;

export interface RunningAction {
  isBusy: boolean;
  error: unknown;
  /** Runs something, and shows its failure. Resolves to undefined if it failed. */
  run<T>(work: () => Promise<T>): Promise<T | undefined>;
  /** Forgets the failure, as when the user cancels what failed. */
  clear(): void;
}

/** Runs one change at a time: another one waits until it is done. What failed in an outage is shown until it is over. */
export function useAction(): RunningAction {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const last = useRef<Promise<unknown>>(Promise.resolve());
  useEffect(() => {
    if (!isOutage(error)) return;
    const timer = setTimeout(async () => {
      await untilServiceIsUp();
      setError((now: unknown) => (now === error ? undefined : now));
    }, SHOWN_MS_MIN);
    return () => clearTimeout(timer);
  }, [error]);
  return {
    isBusy,
    error,
    clear: () => setError(undefined),
    async run(work) {
      setBusy(true);
      setError(undefined);
      const running = last.current.then(work);
      const ended = running.catch(setError);
      last.current = ended;
      await ended;
      if (last.current === ended) setBusy(false);
      return running.catch(() => undefined);
    },
  };
}
