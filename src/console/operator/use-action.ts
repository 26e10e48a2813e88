import { useState } from 'preact/hooks';

export interface RunningAction {
  isBusy: boolean;
  error: unknown;
  /** Runs something, and shows its failure. Resolves to undefined if it failed. */
  run<T>(work: () => Promise<T>): Promise<T | undefined>;
}

/** Runs one change at a time. */
export function useAction(): RunningAction {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  return {
    isBusy,
    error,
    async run(work) {
      setBusy(true);
      setError(undefined);
      try {
        return await work();
      } catch (failed) {
        setError(failed);
        return undefined;
      } finally {
        setBusy(false);
      }
    },
  };
}
