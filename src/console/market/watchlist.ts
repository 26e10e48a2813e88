/** The symbols that a person watches, kept in this browser. All tabs show the same. */

import { useLayoutEffect, useState } from 'preact/hooks';
import { readStored, writeStored } from '../data/stored.ts';

const STORED = 'watchlist';
const listeners = new Set<() => void>();

addEventListener('storage', () => {
  for (const listener of listeners) listener();
});

export function useWatchlist(): { codes: readonly string[]; toggle(code: string): void } {
  const [codes, setCodes] = useState(() => readStored(STORED));
  useLayoutEffect(() => {
    const listener = () => setCodes(readStored(STORED));
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, []);
  return { codes, toggle };
}

function toggle(code: string): void {
  const codes = readStored(STORED);
  writeStored(STORED, codes.includes(code) ? codes.filter((one) => one !== code) : [...codes, code]);
  for (const listener of listeners) listener();
}
