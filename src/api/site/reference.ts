import style from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' };
import bundle from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' };
import { type SiteFile, siteFiles } from './file.ts';

/** The interactive API reference: swagger-ui for /openapi.json, served by this process. */
export async function openReference(): Promise<ReadonlyMap<string, SiteFile>> {
  return siteFiles([
    ['index.html', DOCUMENT],
    ['swagger-ui.js', await Bun.file(bundle).bytes()],
    ['swagger-ui.css', await Bun.file(style).bytes()],
    ['start.js', START + LABELS],
    ['start.css', STYLE],
  ]);
}

const DOCUMENT = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>API reference · Openpit</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
<link rel="stylesheet" href="/docs/assets/start.css">
<script src="/docs/assets/swagger-ui.js" defer></script>
<script src="/docs/assets/start.js" defer></script>
</head>
<body>
<header class="top">
<a class="brand" href="/">Openpit</a>
<nav aria-label="Pages"><a href="/#/market">Market</a><a href="/#/account">Account</a><a href="/#/operator">Operator</a><a href="/#/docs">Docs</a></nav>
</header>
<main id="reference"></main>
</body>
</html>
`;

/** Uses the theme of the console, and the key that it uses in this tab, so that requests can be tried at once. */
const START = `
const systemTheme = matchMedia('(prefers-color-scheme: dark)');
const applyTheme = () => {
  const chosen = localStorage.getItem('openpit.theme');
  document.documentElement.dataset.theme = chosen ?? (systemTheme.matches ? 'dark' : 'light');
};
systemTheme.addEventListener('change', applyTheme);
applyTheme();
const ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: false,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  validatorUrl: null,
  syntaxHighlight: false,
  async onComplete() {
    const config = await (await fetch('/console/config')).json();
    const key = sessionStorage.getItem('openpit.key') ?? config.given?.key;
    if (key) ui.preauthorizeApiKey('header', key);
  },
});
`;

/** Adds accessibility attributes that swagger-ui lacks, whenever it renders. */
const LABELS = `
new MutationObserver(() => {
  for (const pre of document.querySelectorAll('pre:not([tabindex])')) pre.tabIndex = 0;
  for (const field of document.querySelectorAll('select:not([aria-label])')) {
    field.setAttribute('aria-label', field.closest('tr')?.dataset.paramName ?? field.id ?? 'Choice');
    if (field.getAttribute('aria-label') === '') field.setAttribute('aria-label', 'Media type');
  }
}).observe(document.getElementById('reference'), { childList: true, subtree: true });
`;

/** Raises the contrast to 4.5:1 where swagger-ui's colours fall short. */
const STYLE = `
body { margin: 0; background: #fff; }
.top { display: flex; flex-wrap: wrap; gap: 4px 24px; align-items: center; padding: 12px 20px; font: 15px system-ui, sans-serif; background: #fff; border-bottom: 1px solid #dcdfd9; }
.top nav { display: flex; flex-wrap: wrap; gap: 4px 16px; }
.top a { padding: 4px 0; color: #5b6661; text-decoration: none; }
.top a:hover { text-decoration: underline; }
.top .brand { color: #1c2421; font-weight: 600; }
[data-theme="dark"] { color-scheme: dark; }
[data-theme="dark"] body { background: #111614; }
[data-theme="dark"] .top { background: #181f1c; border-color: #2d3833; }
[data-theme="dark"] .top a { color: #9daaa4; }
[data-theme="dark"] .top .brand { color: #e7ece9; }
/* swagger-ui has no dark colours. Inverting its light ones keeps their contrast; turning them back keeps their hue. */
[data-theme="dark"] #reference { color-scheme: light; background: #fff; filter: invert(0.92) hue-rotate(180deg); }
.swagger-ui .info { margin: 24px 0; }
.swagger-ui .info .title small { background: #4d5561; }
.swagger-ui .info .title small.version-stamp { background: #3f6b00; }
.swagger-ui .info .title small pre { background: transparent; }
.swagger-ui .info a, .swagger-ui .info .url, .swagger-ui a.link { color: #1a56a8; }
.swagger-ui .btn.authorize { color: #14634f; border-color: #14634f; }
.swagger-ui .btn.authorize svg { fill: #14634f; }
.swagger-ui .btn.cancel { color: #b3312c; border-color: #b3312c; }
.swagger-ui .btn.execute { background: #14634f; border-color: #14634f; color: #fff; }
.swagger-ui .download-contents { background: #4d5561; color: #fff; }
.swagger-ui .opblock.opblock-get .opblock-summary-method { background: #1a56a8; }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #0b7350; }
.swagger-ui .opblock.opblock-put .opblock-summary-method { background: #7d5708; }
.swagger-ui .opblock.opblock-patch .opblock-summary-method { background: #0b6b6b; }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #b3312c; }
.swagger-ui .parameter__in, .swagger-ui .parameter__type, .swagger-ui .prop-format { color: #4d5561; }
.swagger-ui .parameter__name.required::after, .swagger-ui .parameter__name.required span { color: #b3312c; }
.swagger-ui .response-control-media-type__accept-message { color: #0b7350; }
.swagger-ui .tab li button.tablinks, .swagger-ui .response-col_links { color: #1c2421; }
`;
