import { useEffect, useState } from 'preact/hooks';
import type { ConfigAnswer } from '../api/answers.ts';
import { lazy } from '../show/lazy.tsx';

const SearchDialog = lazy(async () => (await import('./search-dialog.tsx')).SearchDialog, Nothing);

/** Opens the search: a button in the head of every page, and the keys / and Ctrl-K. */
export function SearchButton({ config }: { config: ConfigAnswer | undefined }) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isShortcut = event.key === 'k' && (event.ctrlKey || event.metaKey);
      if (!isShortcut && (event.key !== '/' || isTyping(event.target))) return;
      event.preventDefault();
      setOpen(true);
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
        onClick={() => setOpen(true)}
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
      {isOpen && config && <SearchDialog config={config} onClose={() => setOpen(false)} />}
    </>
  );
}

/** Whether a key is text for a field. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]');
}

function Nothing() {
  return null;
}
