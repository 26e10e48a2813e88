/** Replaces the storage of a browser that refuses access to it, as without cookies: choices are kept until the page is closed. */
for (const name of ['localStorage', 'sessionStorage']) {
  const items = new Map<string, string>();
  const value: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> = {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, text) => items.set(key, text),
    removeItem: (key) => items.delete(key),
  };
  Object.defineProperty(window, name, { value });
}

export {};
