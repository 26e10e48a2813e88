import { render } from 'preact';
import { App } from './app.tsx';
import { takeKeyFromAddress } from './data/session.ts';
import { applyTheme } from './show/theme.tsx';

applyTheme();
takeKeyFromAddress();
addEventListener('hashchange', takeKeyFromAddress); // before the router hears of it
render(<App />, document.getElementById('app')!);
