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
<p class="back"><a href="/#/docs">← Openpit</a></p>
<main id="reference"></main>
</body>
</html>
`;

/** Fills in the key that the console uses in this tab, so that requests can be tried at once. */
const START = `
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
.back { margin: 0; padding: 12px 20px; font: 14px system-ui, sans-serif; border-bottom: 1px solid #ddd; }
.back a { color: #14634f; text-decoration: none; }
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
