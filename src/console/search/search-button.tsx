import { useEffect, useRef, useState } from 'preact/hooks';
import type { ConfigAnswer } from '../api/answers.ts';
import { lazy } from '../show/lazy.tsx';
import { withStyles } from '../show/load-style.ts';
import dialogStyle from '../style/search-dialog.css' with { type: 'file' };

const SearchDialog = lazy(
  async () => (await withStyles(import('./search-dialog.tsx'), dialogStyle)).SearchDialog,
  () => null,
);

/** Opens the search: a button in the head of every page, and the keys / and Ctrl-K. */
export function SearchButton({ config }: { config: ConfigAnswer | undefined }) {
  /** Counts how often the dialog was opened; undefined while it is closed. */
  const [opened, setOpened] = useState<number>();
  const early = useRef<string[]>(undefined);
  const open = () => {
    early.current = [];
    setOpened((before = 0) => before + 1);
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, target } = event;
      const isControl = event.ctrlKey || event.metaKey;
      const isText = !isControl && !(target instanceof HTMLElement && takesText(target));
      if (isText && early.current && EARLY_KEYS.test(key)) early.current.push(key);
      else if (isControl ? key === 'k' : isText && key === '/') open();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <>
      <button
        type="button"
        class="search-button"
        aria-label="Search"
        aria-keyshortcuts="/ Control+K"
        onClick={open}
      >
        <svg viewBox="0 0 20 20" width="16" height="16" aria-hidden="true">
          <path
            d="M9 3a6 6 0 1 0 0 12A6 6 0 0 0 9 3Zm4.3 10.3L17 17"
            fill="none"
            stroke="currentColor"
            stroke-width="1.7"
            stroke-linecap="round"
          />
        </svg>
        <span>Search</span>
        <kbd>/</kbd>
      </button>
      {opened !== undefined && config && (
        <SearchDialog
          key={opened}
          config={config}
          early={early}
          // A dialog's event comes late: another one may be open.
          onClose={() => setOpened((now) => (now === opened ? undefined : now))}
        />
      )}
    </>
  );
}

/** Whether the element takes keys itself. The field of a dialog that was closed has the focus until the next frame. */
function takesText(element: HTMLElement): boolean {
  return element.matches('input, textarea, select') && element.checkVisibility();
}

/** The keys that are kept until the dialog, whose code is loaded, takes them. */
const EARLY_KEYS = /^(.|Enter|Backspace)$/;
