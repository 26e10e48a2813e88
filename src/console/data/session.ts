import { useEffect, useState } from 'preact/hooks';
import type { ConfigAnswer } from './answers.ts';

/** What the person gave to this tab. It is gone when the tab is. */

type Secret = 'key' | 'admin';

const listeners = new Set<() => void>();

export function secret(name: Secret): string {
  return sessionStorage.getItem(`openpit.${name}`) ?? '';
}

export function setSecret(name: Secret, value: string): void {
  if (value === '') sessionStorage.removeItem(`openpit.${name}`);
  else sessionStorage.setItem(`openpit.${name}`, value);
  for (const listener of listeners) listener();
}

/** The secret, again whenever it changes. */
export function useSecret(name: Secret): string {
  const [value, setValue] = useState(() => secret(name));
  useEffect(() => {
    const listener = () => setValue(secret(name));
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, [name]);
  return value;
}

/** The key that requests go with: the person's own, or the one that the service gives to its page. */
export function useKey(config: ConfigAnswer): { key: string; kind: 'own' | 'demo' | 'public' | 'none' } {
  const own = useSecret('key');
  if (own !== '') return { key: own, kind: 'own' };
  if (config.given) return { key: config.given.key, kind: config.given.kind };
  return { key: '', kind: 'none' };
}
