import { readRoute } from '../data/route.ts';

/**
 * Keeps the focus where the user works. A browser drops it when the focused button is disabled or removed, so that the keyboard
 * is back at the top of the page. A link to another page moves it there, so that a screen reader reads the new page.
 */

/** A child of an element, by its position. */
interface Place {
  parent: Element;
  index: number;
}

/** The button that has the focus, or has lost it without the user. */
let kept: { button: HTMLButtonElement; places: readonly Place[] } | undefined;

const observer = new MutationObserver(restore);

/** Starts to keep the focus, which `target` had when the loading of this code began. */
export function keepFocus(target: EventTarget | null): void {
  document.addEventListener('focusin', ({ target }) => keep(target));
  // A button that is removed or disabled may be blurred, too.
  document.addEventListener('focusout', ({ target }) => {
    queueMicrotask(() => target === kept?.button && isUsable(kept.button) && keep(undefined));
  });
  addEventListener('hashchange', ({ oldURL, newURL }: HashChangeEvent) => {
    const [{ page, rest }, next] = [readRoute(new URL(oldURL).hash), readRoute(new URL(newURL).hash)];
    if (page !== next.page || rest !== next.rest) requestAnimationFrame(focusPage);
  });
  keep(document.activeElement === document.body ? target : document.activeElement);
}

/** Moves the focus to the page unless it is within it, as on the link to a section. The frame before has rendered the page. */
function focusPage(): void {
  const content = document.getElementById('content')!;
  if (!content.contains(document.activeElement)) content.focus({ preventScroll: true });
}

function keep(target: EventTarget | null | undefined): void {
  observer.disconnect();
  kept = target instanceof HTMLButtonElement ? { button: target, places: placesOf(target) } : undefined;
  if (!kept) return;
  observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
}

function restore(): void {
  if (!kept || document.activeElement !== document.body) return;
  const { button, places } = kept;
  const next = button.isConnected ? button : successorOf(places);
  if (next instanceof HTMLButtonElement && next.disabled) keep(next);
  else next?.focus({ preventScroll: true });
}

/** What replaces a removed button: the one in its place, one of the nearest row, the first one of its section, or that section. */
function successorOf(places: readonly Place[]): HTMLElement | undefined {
  const known = places.filter(({ parent }) => parent.isConnected);
  if (!known[0]) return undefined; // it was gone before this code was loaded
  const { parent, index } = known[0];
  const same = parent.children[index];
  if (same instanceof HTMLButtonElement) return same;
  const section = parent.closest<HTMLElement>('section, main');
  if (!section) return undefined;
  for (const { parent, index } of known) {
    if (!section.contains(parent)) break;
    if (!parent.matches('tbody, ul')) continue;
    const rows = [...parent.children];
    const nearest = [...rows.slice(index), ...rows.slice(0, index).reverse()];
    const found = nearest.flatMap(buttonsIn).find((button) => !button.disabled);
    if (found) return found;
  }
  const first = section.matches('section') ? buttonsIn(section)[0] : undefined;
  if (!first) section.tabIndex = -1;
  return first ?? section;
}

function buttonsIn(element: Element): HTMLButtonElement[] {
  return [...element.querySelectorAll('button')].filter((button) => button.checkVisibility());
}

function isUsable(button: HTMLButtonElement): boolean {
  return button.isConnected && !button.disabled;
}

/** From the inside out. */
function placesOf(button: Element): Place[] {
  const places: Place[] = [];
  for (let child = button; child.parentElement; child = child.parentElement) {
    places.push({ parent: child.parentElement, index: [...child.parentElement.children].indexOf(child) });
  }
  return places;
}
