import { useEffect, useId, useMemo, useState } from 'preact/hooks';
import type { MarketSymbol } from '../api/answers.ts';
import { loadModule } from '../api/load-module.ts';
import type { Searchable } from './match.ts';

const NONE: readonly MarketSymbol[] = [];

/** A text, and whether Enter was pressed after it. */
export interface TypedText {
  text: string;
  isEntered: boolean;
}

/** A field to find a symbol or write a formula, with a list of what fits. Arrow keys choose, Enter picks, Escape closes the list. */
export function SymbolPicker({
  market,
  label,
  placeholder,
  onPick,
  onSearch,
  keepsList = false,
  suggested = NONE,
  excluded = [],
  typed,
}: {
  market: Searchable;
  label: string;
  placeholder: string;
  onPick: (code: string) => void;
  /** The field has the focus, so the market should have all symbols soon. */
  onSearch?: () => void;
  /** Whether the list is part of the page instead of opening below the field. */
  keepsList?: boolean;
  /** Shown as long as nothing is written. */
  suggested?: readonly MarketSymbol[];
  excluded?: readonly string[];
  /** What it contains at first. */
  typed?: TypedText;
}) {
  const id = useId();
  const [text, setText] = useState(typed?.text ?? '');
  const [active, setActive] = useState(0);
  const [isEnterPending, setEnterPending] = useState(typed?.isEntered);
  const { finder, loadFinder } = useFinder();
  const isEmpty = text.trim() === '';
  const options = useMemo(
    () => (isEmpty ? suggested : (finder?.optionsFor(market, text, excluded) ?? NONE)),
    [market, text, excluded, suggested, finder],
  );
  const isOpen = !isEmpty || keepsList;
  const hasAllOptions = isEmpty || (finder !== undefined && market.isComplete);
  const pick = (symbol: MarketSymbol | undefined) => {
    if (!symbol) return;
    setText('');
    setActive(0);
    onPick(symbol.symbol);
  };
  // Somebody may type a name and Enter before the symbols are loaded.
  useEffect(() => {
    if (!isEnterPending || !hasAllOptions) return;
    setEnterPending(false);
    pick(options[active]);
  }, [isEnterPending, hasAllOptions]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      const step = event.key === 'ArrowDown' ? 1 : -1;
      if (options.length > 0) setActive((active + step + options.length) % options.length);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      if (hasAllOptions) pick(options[active]);
      else setEnterPending(true);
    } else if (event.key === 'Escape' && isOpen && !keepsList) {
      event.preventDefault();
      event.stopPropagation();
      setText('');
    }
  };
  return (
    <div class={keepsList ? 'picker' : 'picker floating'}>
      <input
        type="text" // in a search field, Escape would clear the text instead of closing the dialog
        // biome-ignore lint/a11y/noRedundantRoles: without a datalist the role is "textbox"
        role="combobox"
        list={undefined}
        aria-label={label}
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-activedescendant={isOpen && options[active] ? `${id}-${active}` : undefined}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setActive(0);
          setEnterPending(false);
        }}
        onKeyDown={onKeyDown}
        onFocus={() => {
          loadFinder();
          onSearch?.();
        }}
        onBlur={() => !keepsList && setText('')}
      />
      <div
        id={`${id}-list`}
        role="listbox"
        aria-label="Symbols that fit"
        hidden={!isOpen || options.length === 0}
      >
        {options.map((symbol, i) => (
          <div
            key={symbol.symbol}
            id={`${id}-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === active}
            onPointerMove={() => setActive(i)}
            onPointerDown={(event) => {
              event.preventDefault(); // the field keeps the focus
              pick(symbol);
            }}
          >
            <span class="name">{symbol.name}</span>
            <span class="code">
              {symbol.category === 'Formula' ? 'Formula' : `${symbol.symbol} · ${symbol.category}`}
            </span>
          </div>
        ))}
      </div>
      {!isEmpty && hasAllOptions && options.length === 0 && (
        <p class="picker-none" role="status">
          Nothing matches “{text}”. Try a code, a name, a ticker, or a formula such as XAU/XAG.
        </p>
      )}
    </div>
  );
}

let known: typeof import('./options.ts') | undefined;

/** What finds symbols. It is loaded when somebody is about to search. */
function useFinder(): { finder: typeof known; loadFinder(): void } {
  const [finder, setFinder] = useState(known);
  const loadFinder = () => {
    if (finder) return;
    void loadModule(() => import('./options.ts')).then((module) => {
      known = module;
      setFinder(module);
    });
  };
  return { finder, loadFinder };
}
