import { render } from 'preact';
import { takeKeyFromAddress } from './api/session.ts';
import { App } from './app.tsx';
import { applyTheme } from './show/theme.tsx';

applyTheme();
takeKeyFromAddress();
addEventListener('hashchange', takeKeyFromAddress); // before the router hears of it
render(<App />, document.getElementById('app')!);
