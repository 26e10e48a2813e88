/** `npm run docs`: writes the parts of the documentation that are generated from the code. A test fails when they differ. */
import { join } from 'node:path';
import packageJson from '../package.json';
import { openApiDocument } from '../src/api/openapi/document.ts';
import { SETTINGS } from '../src/config/settings.ts';
import { RELIABILITY, reliabilityFromResults } from '../test/process/faults/doc.ts';

import { CLIENT_TYPES, clientTypesFromDocument } from './client-types.ts';

const README = join(import.meta.dir, '..', 'README.md');
export const OPENAPI = join(import.meta.dir, '..', 'docs', 'openapi.json');

/** The README with its table of settings generated again. */
export async function readmeFromCode(): Promise<{ before: string; after: string }> {
  const before = await Bun.file(README).text();
  const rows = SETTINGS.map(
    ({ env, default: fallback, help }) => `| \`${env}\` | ${fallback && `\`${fallback}\``} | ${help} |`,
  );
  const table = ['| Setting | Default | What it does |', '|---|---|---|', ...rows].join('\n');
  const after = before.replace(
    /<!-- settings -->[\s\S]*<!-- \/settings -->/,
    () => `<!-- settings -->\n${table}\n<!-- /settings -->`,
  );
  return { before, after };
}

/** The OpenAPI document as it is committed. */
export function openApiFromCode(): string {
  return `${JSON.stringify(openApiDocument(packageJson.version), null, 2)}\n`;
}

if (import.meta.main) {
  await Bun.write(README, (await readmeFromCode()).after);
  await Bun.write(OPENAPI, openApiFromCode());
  await Bun.write(CLIENT_TYPES, await clientTypesFromDocument(JSON.parse(openApiFromCode())));
  await Bun.write(RELIABILITY, await reliabilityFromResults());
}
