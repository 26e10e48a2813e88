import { useLayoutEffect, useState } from 'preact/hooks';

/** Light or dark: the system's setting until the user chooses one. */
type Theme = 'light' | 'dark';

const STORED = 'openpit.theme';
const listeners = new Set<() => void>();
const system = matchMedia('(prefers-color-scheme: dark)');

function chosen(): Theme | undefined {
  const stored = localStorage.getItem(STORED);
  return stored === 'light' || stored === 'dark' ? stored : undefined;
}

function current(): Theme {
  return chosen() ?? (system.matches ? 'dark' : 'light');
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = current();
  for (const listener of listeners) listener();
}

system.addEventListener('change', applyTheme);
addEventListener('storage', applyTheme); // chosen in another tab

/** The theme; re-renders when it changes, because a canvas does not follow style sheets. */
export function useTheme(): Theme {
  const [theme, setTheme] = useState(current);
  useLayoutEffect(() => {
    const listener = () => setTheme(current());
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, []);
  return theme;
}

export function ThemeSwitch() {
  const theme = useTheme();
  const other = theme === 'dark' ? 'light' : 'dark';
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={`Switch to ${other} colours`}
      title={`Switch to ${other} colours`}
      onClick={() => {
        localStorage.setItem(STORED, other);
        applyTheme();
      }}
    >
      <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true">
        {theme === 'dark' ? (
          <path
            d="M10 3v2M10 15v2M3 10h2M15 10h2M5 5l1.4 1.4M13.6 13.6 15 15M15 5l-1.4 1.4M6.4 13.6 5 15M10 7a3 3 0 1 0 0 6 3 3 0 0 0 0-6Z"
            fill="none"
            stroke="currentColor"
            stroke-width="1.6"
            stroke-linecap="round"
          />
        ) : (
          <path
            d="M16 11.5A6.5 6.5 0 0 1 8.5 4a6.5 6.5 0 1 0 7.5 7.5Z"
            fill="none"
            stroke="currentColor"
            stroke-width="1.6"
            stroke-linejoin="round"
          />
        )}
      </svg>
    </button>
  );
}
