import { render } from 'preact';
import { App } from './app.tsx';
import { applyTheme } from './show/theme.tsx';

applyTheme();
render(<App />, document.getElementById('app')!);
