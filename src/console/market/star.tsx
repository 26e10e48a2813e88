import { useWatchlist } from './watchlist.ts';

/** Puts a symbol on the watchlist, or takes it off. */
export function Star({ code, name }: { code: string; name: string }) {
  const { codes, toggle } = useWatchlist();
  const isWatched = codes.includes(code);
  return (
    <button
      type="button"
      class="star"
      aria-pressed={isWatched}
      aria-label={`Watch ${name}`}
      title={isWatched ? 'Remove from the watchlist' : 'Add to the watchlist'}
      onClick={() => toggle(code)}
    >
      <svg viewBox="0 0 20 20" width="17" height="17" aria-hidden="true">
        <path
          d="m10 2.6 2.2 4.7 5.1.6-3.8 3.5 1 5.1L10 14l-4.5 2.5 1-5.1L2.7 7.9l5.1-.6Z"
          fill={isWatched ? 'currentColor' : 'none'}
          stroke="currentColor"
          stroke-width="1.4"
          stroke-linejoin="round"
        />
      </svg>
    </button>
  );
}
