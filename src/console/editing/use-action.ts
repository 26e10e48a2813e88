import { useRef, useState } from 'preact/hooks';

export interface RunningAction {
  isBusy: boolean;
  error: unknown;
  /** Runs something, and shows its failure. Resolves to undefined if it failed. */
  run<T>(work: () => Promise<T>): Promise<T | undefined>;
}

/** Runs one change at a time: another one waits until it is done. */
export function useAction(): RunningAction {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const last = useRef<Promise<unknown>>(Promise.resolve());
  return {
    isBusy,
    error,
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
