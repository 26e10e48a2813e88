/** Secrets entered in this tab. They are lost when it closes, unless the user lets this browser remember the key. */

import { useLayoutEffect, useState } from 'preact/hooks';
import type { ConfigAnswer } from './answers.ts';

/** The operator's name is no secret, but is forgotten with the token. */
type Secret = 'key' | 'admin' | 'operator';

const listeners = new Set<() => void>();

export function secret(name: Secret): string {
  const remembered = name === 'key' ? localStorage.getItem(REMEMBERED_KEY) : null;
  return sessionStorage.getItem(`openpit.${name}`) ?? remembered ?? '';
}

const REMEMBERED_KEY = 'openpit.remembered-key';

/** Another tab has replaced or forgotten the remembered key. It may have been entered here. */
addEventListener('storage', ({ key, oldValue }: StorageEvent) => {
  if (key !== REMEMBERED_KEY) return;
  if (sessionStorage.getItem('openpit.key') === oldValue) sessionStorage.removeItem('openpit.key');
  for (const listener of listeners) listener();
});

/** Whether it is the key of this tab: another tab may have one of its own. */
export function isKeyRemembered(): boolean {
  return localStorage.getItem(REMEMBERED_KEY) === secret('key');
}

/** Keeps the key of this tab in this browser, or only in this tab. */
export function rememberKey(isWanted: boolean): void {
  const key = secret('key');
  sessionStorage.setItem('openpit.key', key);
  if (isWanted) localStorage.setItem(REMEMBERED_KEY, key);
  else localStorage.removeItem(REMEMBERED_KEY);
  for (const listener of listeners) listener();
}

/** A key that replaces a remembered one is remembered, too; an empty one is forgotten everywhere. */
export function setSecret(name: Secret, value: string): void {
  if (name === 'key' && value === '') localStorage.removeItem(REMEMBERED_KEY);
  else if (name === 'key' && isKeyRemembered()) localStorage.setItem(REMEMBERED_KEY, value);
  if (value === '') sessionStorage.removeItem(`openpit.${name}`);
  else sessionStorage.setItem(`openpit.${name}`, value);
  for (const listener of listeners) listener();
}

const KEY_IN_ADDRESS = /^#key=/;
const KEY = /^pit_live_[0-9A-Za-z]{36}$/;

/**
 * Takes the key from an address such as `http://localhost:8080/#key=pit_live_…` and removes it from the address bar. A
 * key entered in this tab stays: a link from another site must not replace it.
 */
export function takeKeyFromAddress(): void {
  if (!KEY_IN_ADDRESS.test(location.hash)) return;
  const key = location.hash.replace(KEY_IN_ADDRESS, '');
  history.replaceState(null, '', location.pathname + location.search);
  if (KEY.test(key) && secret('key') === '') setSecret('key', key);
}

/** The secret; re-renders when it changes, also before the first frame: another effect would listen too late. */
export function useSecret(name: Secret): string {
  const [value, setValue] = useState(() => secret(name));
  useLayoutEffect(() => {
    const listener = () => setValue(secret(name));
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, [name]);
  return value;
}

/** The key for requests: the user's own, or the one that the service provides. */
export function useKey(config: ConfigAnswer): { key: string; kind: 'own' | 'demo' | 'public' | 'none' } {
  const own = useSecret('key');
  if (own !== '') return { key: own, kind: 'own' };
  if (config.given) return { key: config.given.key, kind: config.given.kind };
  return { key: '', kind: 'none' };
}
