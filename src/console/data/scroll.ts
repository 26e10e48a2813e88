import { useLayoutEffect } from 'preact/hooks';

/** Scroll positions by history entry. The browser cannot restore them itself: a page is rendered after the navigation. */
const positions = new Map<number, number>();
let entry = 0;

history.scrollRestoration = 'manual';
const keepPosition = () => positions.set(entry, scrollY);
addEventListener('scroll', keepPosition, { passive: true });
addEventListener('hashchange', keepPosition); // the event of the last scroll may not have come yet

/** Scrolls a new page to its top, and one that the user returns to, to where it was. */
export function useScrollPosition(page: string): void {
  useLayoutEffect(() => {
    const state = history.state as { entry?: number } | null;
    entry = state?.entry ?? Date.now();
    if (state?.entry === undefined) history.replaceState({ entry }, '');
    scrollTo(0, positions.get(entry) ?? 0);
  }, [page]);
}
