import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ConfigAnswer } from '../api/answers.ts';
import { useKey } from '../api/session.ts';
import { useMarket } from '../data/market/use-market.ts';
import { linkTo } from '../data/route.ts';
import { useWatchlist } from '../market/watchlist.ts';
import { Failure, Notice } from '../show/parts.tsx';
import { SymbolPicker, type TypedText } from './symbol-picker.tsx';

/** Suggested to somebody who watches nothing yet. */
const KNOWN_BY_ALL = ['XAU', 'XAG', 'WTIOIL-FUT', 'BRENTOIL-SPOT', 'NG-FUT', 'HG-SPOT', 'CORN', 'ZW-SPOT'];

/** Finds a symbol from any page, by code, name or ticker. */
export function SearchDialog({
  config,
  early,
  onClose,
}: {
  config: ConfigAnswer;
  /** The keys that were pressed before the dialog was shown. It sets them to undefined, and gets the others itself. */
  early: { current: string[] | undefined };
  onClose: () => void;
}) {
  const [typed] = useState(() => typedWith(early.current ?? []));
  const dialog = useRef<HTMLDialogElement>(null);
  const { key } = useKey(config);
  // Before the next key can be pressed.
  useLayoutEffect(() => {
    dialog.current?.showModal();
    early.current = undefined;
  }, []);
  return (
    <dialog
      ref={dialog}
      class="search-dialog"
      aria-label="Search"
      onClose={onClose}
      onPointerDown={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      {key === '' ? (
        <Notice title="Prices on this service need a key.">Enter yours on the market page.</Notice>
      ) : (
        <Finder
          apiKey={key}
          typed={typed}
          onFound={(code) => {
            location.hash = linkTo('symbol', code);
            dialog.current?.close();
          }}
        />
      )}
    </dialog>
  );
}

function Finder({
  apiKey,
  typed,
  onFound,
}: {
  apiKey: string;
  typed: TypedText;
  onFound: (code: string) => void;
}) {
  const store = useMarket(apiKey, 'all symbols');
  const { codes } = useWatchlist();
  const { symbols } = store.searchable;
  const suggested = (codes.length > 0 ? codes : KNOWN_BY_ALL).flatMap((code) =>
    symbols.filter(({ symbol }) => symbol === code),
  );
  return (
    <>
      {store.error !== undefined && <Failure error={store.error} onRetry={store.refresh} />}
      <SymbolPicker
        market={store.searchable}
        label="Find a symbol"
        placeholder="Name, code, ticker, or a formula such as XAU/XAG"
        suggested={suggested}
        typed={typed}
        onPick={onFound}
        keepsList
      />
      <p class="search-keys" aria-hidden="true">
        <kbd>↑</kbd> <kbd>↓</kbd> to choose, <kbd>Enter</kbd> to open, <kbd>Esc</kbd> to close
      </p>
    </>
  );
}

/** What a field would contain after these keys. */
function typedWith(keys: readonly string[]): TypedText {
  let text = '';
  for (const key of keys) {
    if (key === 'Enter') return { text, isEntered: true };
    text = key === 'Backspace' ? text.slice(0, -1) : text + key;
  }
  return { text, isEntered: false };
}
