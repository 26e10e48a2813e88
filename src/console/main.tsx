// Several pages need these. In files of their own they would take more bytes, most of them headers.
import './account/with-key.tsx';
import './data/days.ts';
import './data/market/use-market.ts';
import './market/star.tsx';
import './search/symbol-picker.tsx';
import './show/format.ts';
import './show/now.ts';
import './show/snippets.ts';
import './show/stack-table.tsx';
import { render } from 'preact';
import { takeKeyFromAddress } from './api/session.ts';
import { App } from './app.tsx';
import { applyTheme } from './show/theme.tsx';

applyTheme();
takeKeyFromAddress();
addEventListener('hashchange', takeKeyFromAddress); // before the router's own listener
render(<App />, document.getElementById('app')!);
