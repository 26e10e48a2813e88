// Several pages need these. In files of their own they would take more bytes, most of them headers.
import './account/with-key.tsx';
import './data/days.ts';
import './data/market/use-market.ts';
import './data/simulated.ts';
import './market/star.tsx';
import './search/symbol-picker.tsx';
import './show/curl.ts';
import './show/format.ts';
import './show/now.ts';
import './show/stack-table.tsx';
import { render } from 'preact';
import { takeKeyFromAddress } from './api/session.ts';
import { App } from './app.tsx';
import { loadStyle } from './show/load-style.ts';
import { applyTheme } from './show/theme.tsx';
import touchStyle from './style/touch.css' with { type: 'file' };

function start(): void {
  applyTheme();
  if (matchMedia('(pointer: coarse)').matches) loadStyle(touchStyle).catch(() => {}); // the page works without it
  takeKeyFromAddress();
  addEventListener('hashchange', takeKeyFromAddress); // before the router's own listener
  render(<App />, document.getElementById('app')!);
  addEventListener(
    'focusin',
    ({ target }) =>
      void import('./show/keep-focus.ts').then(
        ({ keepFocus }) => keepFocus(target),
        () => {},
      ),
    { once: true },
  );
}

function hasStorage(): boolean {
  try {
    return !!localStorage;
  } catch {
    return false;
  }
}

if (hasStorage()) start();
else void import('./memory-storage.ts').then(start);
