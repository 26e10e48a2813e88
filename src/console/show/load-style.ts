const loaded = new Map<string, Promise<void>>();

/** What loads `part`, when its style sheets apply, too. */
export async function withStyles<T>(part: Promise<T>, ...urls: readonly string[]): Promise<T> {
  const [loadedPart] = await Promise.all([part, ...urls.map(loadStyle)]);
  return loadedPart;
}

/** Adds a style sheet to the page, and waits until it applies. */
export function loadStyle(url: string): Promise<void> {
  return loaded.getOrInsertComputed(
    url,
    () =>
      new Promise((resolve, reject) => {
        const link = document.createElement('link');
        link.rel = 'stylesheet';
        link.href = url;
        link.onload = () => resolve();
        link.onerror = () => reject(new Error(`The style sheet ${url} did not load.`));
        document.head.append(link);
      }),
  );
}
