/** `npm run docs`: writes the parts of the documentation that are made from the code. A test fails when they differ. */
import { join } from 'node:path';
import { SETTINGS } from '../src/config.ts';

const README = join(import.meta.dir, '..', 'README.md');

/** The README with its table of settings made anew. */
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

if (import.meta.main) await Bun.write(README, (await readmeFromCode()).after);
