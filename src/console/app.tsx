import { useEffect } from 'preact/hooks';
import type { ConfigAnswer } from './api/answers.ts';
import { ask } from './api/client.ts';
import { learnCommand } from './api/command-line.ts';
import { useLoad } from './api/load.ts';
import { linkTo, useRoute } from './data/route.ts';
import { useScrollPosition } from './data/scroll.ts';
import { SearchButton } from './search/search-button.tsx';
import { lazy } from './show/lazy.tsx';
import { withStyles } from './show/load-style.ts';
import { Failure, Loading, Notice, type Shape } from './show/parts.tsx';
import { ThemeSwitch } from './show/theme.tsx';
import accountStyle from './style/account.css' with { type: 'file' };
import docsStyle from './style/docs.css' with { type: 'file' };
import formStyle from './style/forms.css' with { type: 'file' };
import marketStyle from './style/market.css' with { type: 'file' };
import operatorStyle from './style/operator.css' with { type: 'file' };

const MarketPage = lazy(async () => {
  return (await withStyles(import('./pages/market.tsx'), marketStyle)).MarketPage;
}, 'market');
const SymbolPage = lazy(async () => (await import('./pages/symbol.tsx')).SymbolPage, 'chart');
const AccountPage = lazy(async () => {
  return (await withStyles(import('./pages/account.tsx'), formStyle, accountStyle, operatorStyle))
    .AccountPage;
}, 'cards');
const OperatorPage = lazy(async () => {
  return (await withStyles(import('./pages/operator.tsx'), formStyle, accountStyle, operatorStyle))
    .OperatorPage;
}, 'cards');
const DocsPage = lazy(async () => (await withStyles(import('./pages/docs.tsx'), docsStyle)).DocsPage);

/** What a page looks like before anything is known. */
const SHAPES: Readonly<Record<string, Shape>> = {
  market: 'market',
  symbol: 'chart',
  account: 'cards',
  operator: 'cards',
};

const PAGES = [
  ['market', 'Market'],
  ['account', 'Account'],
  ['operator', 'Operator'],
  ['docs', 'Docs'],
] as const;

export function App() {
  const { page, rest } = useRoute();
  const config = useLoad(async () => {
    const answer = await ask<ConfigAnswer>('/console/config');
    learnCommand(answer);
    return answer;
  }, []);
  const shown = page === 'symbol' ? 'market' : page;
  const title = page === 'symbol' ? rest : PAGES.find(([name]) => name === page)?.[1];
  useEffect(() => {
    document.title = title ? `${title} · Openpit` : 'Openpit';
  }, [title]);
  useScrollPosition(`${page}/${rest}`);
  return (
    <>
      <button type="button" class="skip" onClick={skip}>
        Skip to content
      </button>
      <header class="top">
        <a class="brand" href={linkTo('market')}>
          <Mark />
          Openpit
        </a>
        <nav aria-label="Pages">
          {PAGES.map(([name, label]) => (
            <a key={name} href={linkTo(name)} aria-current={name === shown ? 'page' : undefined}>
              {label}
            </a>
          ))}
        </nav>
        <div class="top-end">
          <SearchButton config={config.data} />
          {config.data?.simulated && (
            <span class="badge simulated" title="Prices on this service are simulated">
              Simulated
            </span>
          )}
          <ThemeSwitch />
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        {config.state === 'failed' && <Failure error={config.error} onRetry={config.reload} />}
        {config.state === 'loading' && !config.data && (
          <Loading label="Opening the page" shape={SHAPES[page] ?? 'lines'} />
        )}
        {config.data && <Page page={page} rest={rest} config={config.data} />}
      </main>
      <footer>
        <span>Openpit {config.data?.version ?? ''}</span>
        <a href={linkTo('docs', 'reference')}>API reference</a>
        <a href="/openapi.json">OpenAPI</a>
        <a href="https://www.tradingview.com/lightweight-charts/" rel="noreferrer">
          Charts by TradingView
        </a>
      </footer>
    </>
  );
}

function Page({ page, rest, config }: { page: string; rest: string; config: ConfigAnswer }) {
  if (page === 'market') return <MarketPage config={config} />;
  if (page === 'symbol' && rest !== '')
    return <SymbolPage key={rest} code={rest.toUpperCase()} config={config} />;
  if (page === 'account') return <AccountPage config={config} />;
  if (page === 'operator') return <OperatorPage section={rest} config={config} />;
  if (page === 'docs') return <DocsPage section={rest} config={config} />;
  return (
    <Notice title="There is nothing here.">
      The address does not name a page. <a href={linkTo('market')}>Go to the market</a>.
    </Notice>
  );
}

/** A link would change the route. */
function skip(): void {
  document.getElementById('content')?.focus();
}

function Mark() {
  return (
    <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" class="mark">
      <path d="M4 5v11M10 2v16M16 6v11" stroke="currentColor" stroke-width="1.4" />
      <rect x="2" y="8" width="4" height="5.5" rx="1" fill="currentColor" />
      <rect x="8" y="5" width="4" height="8.5" rx="1" class="mark-gold" />
      <rect x="14" y="9" width="4" height="5" rx="1" fill="currentColor" />
    </svg>
  );
}
