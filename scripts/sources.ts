/** `bun scripts/sources.ts`: writes docs/sources.md from the providers' own settings. A test fails when it is out of date. */
import { join } from 'node:path';
import type { ProvidedSeries, Provider } from '../src/feeds/provider.ts';
import { PROVIDERS } from '../src/feeds/providers/index.ts';
import catalog from '../src/ledger/catalog/symbols.json' with { type: 'json' };

export const SOURCES_PAGE = join(import.meta.dir, '../docs/sources.md');

const REDISTRIBUTION = {
  yes: 'yes',
  attribution: 'with the source named',
  no: 'no: off until you turn it on',
} as const;

export function renderSources(): string {
  return `# Sources

This page is made from the providers' settings by \`bun scripts/sources.ts\`. How to add one: [adding-a-feed.md](adding-a-feed.md).

Where several providers that are on have a series for one symbol, the first in this order fills it.

${table([['Key', 'Provider', 'May be passed on', 'Must be set', 'Runs (cron, zone)'], ...PROVIDERS.map(row)])}

A provider that may not be passed on needs an agreement with its owner before you serve its prices to others.

FRED works without a key. With \`OPENPIT_FRED_API_KEY\` set, its JSON service is used, and the unit of each series is checked.

${PROVIDERS.map(section).join('\n\n')}

## Symbols without a public source

${withoutSource()}

They can be filled by \`openpit import\`, or by your own feed.
`;
}

function row({ key, title, licence, requiredSettings, schedule, zone }: Provider): string[] {
  const must = requiredSettings.map((name) => `\`${name}\``).join(', ') || '—';
  return [
    `\`${key}\``,
    title,
    `[${REDISTRIBUTION[licence.redistribution]}](${licence.url})`,
    must,
    `\`${schedule}\`, ${zone}`,
  ];
}

function section(provider: Provider): string {
  const head = `## ${provider.title}\n\n${provider.licence.attribution}\n\n`;
  if (provider.fills === 'currencies') {
    const codes = provider.series.map(({ id }) => id).join(', ');
    return `${head}Units of each currency for 1 EUR: ${codes}.`;
  }
  return head + table([['Series', 'Symbol', 'Name', 'Unit'], ...provider.series.map(seriesRow)]);
}

function seriesRow({ id, symbol, currency, unit, published }: ProvidedSeries): string[] {
  const name = catalog.find((one) => one.code === symbol)?.name ?? '';
  const from = published ? `, from ${published.currency} per ${published.unit}` : '';
  return [id, `\`${symbol}\``, name, `${currency} per ${unit}${from}`];
}

/** With columns as wide as their widest cell, as the formatter wants them. */
function table([head, ...rows]: string[][]): string {
  const widths = head!.map((name, i) => Math.max(name.length, 3, ...rows.map((cells) => cells[i]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`;
  return [line(head!), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

function withoutSource(): string {
  const filled = new Set(PROVIDERS.flatMap(({ series }) => series.map(({ symbol }) => symbol)));
  return catalog
    .filter(({ code }) => !filled.has(code))
    .map(({ code }) => `\`${code}\``)
    .join(', ');
}

if (import.meta.main) await Bun.write(SOURCES_PAGE, renderSources());
