import type { Provider } from '../../feeds/provider.ts';
import { bundledObservations, EDITIONS } from '../../feeds/sample/bundle.ts';
import { type LoadedEdition, loadSample } from '../../feeds/sample/load.ts';
import { printDay } from '../../market/day.ts';
import { printNumber } from '../../market/decimal.ts';
import { plural } from '../../runtime/plural.ts';
import { hasSucceeded, ownRunnerParts, stageProgress } from '../feeds/own-run.ts';
import { type Command, type CommandCall, JSON_FLAG, table, UsageError } from '../framework/command.ts';
import { printLine } from '../framework/print-line.ts';

/** The commands for the bundle of real history. */
export function sampleCommands(providers: readonly Provider[]): readonly Command[] {
  return [
    {
      name: 'sample load',
      summary: 'Load the real prices that come with the program',
      details:
        'They are daily spot prices from the EIA, monthly prices from the World Bank, and exchange rates from the ECB. ' +
        'They replace simulated prices, but never prices from a feed, an import or a push. ' +
        'Prices of days more than two weeks after the last exchange rate cannot be converted until openpit feed run ecb has loaded newer rates.',
      examples: ['sample load', 'sample load --list'],
      flags: { list: { help: 'Only show what would be loaded, with its edition and licence' }, ...JSON_FLAG },
      createsLedger: 'anywhere',
      run: (call) => (call.isSet('list') ? list(call, providers) : load(call, providers)),
    },
    {
      name: 'sample export',
      operands: ['SYMBOL'],
      summary: 'Print the bundled prices of a symbol as CSV, for example to try an import',
      examples: ['sample export WTIOIL-SPOT'],
      flags: {},
      ledgerOptional: true,
      run: ({ operands }) => exportCsv(operands[0]!.toUpperCase(), providers),
    },
  ];
}

async function list({ isSet }: CommandCall, providers: readonly Provider[]): Promise<void> {
  const editions = EDITIONS.flatMap((edition) => {
    const provider = providers.find(({ key }) => key === edition.provider);
    return provider ? { ...edition, title: provider.title, licence: provider.licence } : [];
  });
  if (isSet('json')) return printLine(JSON.stringify(editions));
  const rows = editions.map((one) => [
    one.provider,
    one.edition,
    String(one.series),
    String(one.observations),
    one.first,
    one.last,
    `${Math.round(one.bytes / 1000)} kB`,
    one.title,
  ]);
  printLine(table([['source', 'edition', 'series', 'prices', 'from', 'to', 'size', 'title'], ...rows]));
  for (const { licence } of editions) printLine(`${licence.attribution} (${licence.url})`);
}

async function load(call: CommandCall, providers: readonly Provider[]): Promise<void> {
  const loaded = await call.withLedger((ledger) =>
    loadSample(ownRunnerParts(ledger, providers, {}), stageProgress()),
  );
  if (call.isSet('json')) printLine(JSON.stringify(loaded));
  else for (const one of loaded) printLoaded(one);
  const failed = loaded.filter(
    ({ outcome }) => outcome.kind === 'loaded' && !hasSucceeded(outcome.run.status),
  );
  if (failed.length > 0) throw new Error(`${failed.map(({ provider }) => provider).join(', ')} failed`);
}

function printLoaded({ provider, edition, last, licence, outcome }: LoadedEdition): void {
  if (outcome.kind === 'skipped') {
    printLine(`${provider}: not loaded, because ${outcome.reason}`);
    return;
  }
  const { status, message, taken, unchanged } = outcome.run;
  if (!hasSucceeded(status)) {
    printLine(`${provider}: ${status}: ${message}`);
    return;
  }
  printLine(
    `${provider}: ${plural(taken, 'price')} loaded, ${unchanged.toLocaleString('en')} known before, until ${last} (edition ${edition})`,
  );
  if (outcome.kept.length > 0)
    printLine(`  not loaded, because they have real prices from elsewhere: ${outcome.kept.join(', ')}`);
  printLine(`  ${licence.attribution} (${licence.url})`);
}

async function exportCsv(code: string, providers: readonly Provider[]): Promise<void> {
  const known: string[] = [];
  for (const edition of EDITIONS) {
    const provider = providers.find(({ key }) => key === edition.provider);
    if (!provider) continue;
    const bySeries = Map.groupBy(await bundledObservations(provider, edition), ({ series }) => series);
    const bundled = provider.series.filter(({ id }) => bySeries.has(id));
    const wanted = bundled.find(({ symbol }) => symbol === code);
    if (wanted) {
      const rows = bySeries.get(wanted.id)!.map(({ day, close }) => `${printDay(day)},${printNumber(close)}`);
      return printLine(['date,price', ...rows].join('\n'));
    }
    known.push(...bundled.map(({ symbol }) => symbol));
  }
  throw new UsageError(`the bundle has no prices of ${code}; it has those of ${known.sort().join(', ')}`);
}
