/** `bun scripts/sources.ts`: writes docs/sources.md from the providers' own settings. A test fails when it is out of date. */
import { join } from 'node:path';
import type { ProvidedSeries, Provider } from '../src/feeds/provider.ts';
import { PROVIDERS } from '../src/feeds/providers/index.ts';
import catalog from '../src/ledger/catalog/symbols.json' with { type: 'json' };

export const SOURCES_PAGE = join(import.meta.dir, '../docs/sources.md');

const REDISTRIBUTION = {
  yes: 'yes',
  attribution: 'with attribution',
  no: 'no: disabled by default',
} as const;

export function renderSources(): string {
  return `# Sources

\`bun scripts/sources.ts\` generates this page from the providers' settings. [adding-a-feed.md](adding-a-feed.md) describes how to add a provider.

If several enabled providers have a series for the same symbol, the first one in this table supplies it.

${table([['Key', 'Provider', 'Redistribution', 'Required setting', 'Schedule (cron, zone)'], ...PROVIDERS.map(row)])}

If a provider does not allow redistribution, you need an agreement with it before you serve its prices to others.

FRED works without a key. With \`OPENPIT_FRED_API_KEY\` set, its JSON service is used, and the unit of each series is checked.

${PROVIDERS.map(section).join('\n\n')}

## Symbols without a public source

${withoutSource()}

Supply them with \`openpit import\` or with a feed of your own.
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

/** Pads each column to its widest cell. */
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
