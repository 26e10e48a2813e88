import style from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' };
import bundle from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' };
import { type SiteFile, siteFile } from './file.ts';

/** The API reference with try-it: swagger-ui over /openapi.json, served from the program. */
export async function openReference(): Promise<ReadonlyMap<string, SiteFile>> {
  return new Map([
    ['index.html', siteFile(DOCUMENT, 'html')],
    ['swagger-ui.js', siteFile(await Bun.file(bundle).bytes(), 'js')],
    ['swagger-ui.css', siteFile(await Bun.file(style).bytes(), 'css')],
    ['start.js', siteFile(START, 'js')],
    ['start.css', siteFile(STYLE, 'css')],
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

/** A key that the page holds in this tab is filled in, so that try-it works at once. */
const START = `
const ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  validatorUrl: null,
  onComplete() {
    const key = sessionStorage.getItem('openpit.key');
    if (key) ui.preauthorizeApiKey('header', key);
  },
});
`;

const STYLE = `
body { margin: 0; background: #fff; }
.back { margin: 0; padding: 12px 20px; font: 14px system-ui, sans-serif; border-bottom: 1px solid #ddd; }
.back a { color: #1a56c4; text-decoration: none; }
.swagger-ui .topbar { display: none; }
.swagger-ui .info { margin: 24px 0; }
`;
