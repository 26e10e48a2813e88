/** `bun scripts/demo.ts`: fills a ledger as a first start does, compares its prices with the bundle, and updates docs/demo.md. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROVIDERS } from '../src/feeds/providers/index.ts';
import { bundledProvider, EDITIONS } from '../src/feeds/sample/bundle.ts';
import { Simulator } from '../src/feeds/simulator/simulator.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import { type Day, parseDay, printDay } from '../src/market/day.ts';
import { converted } from '../src/market/ratio.ts';
import { unitFactor } from '../src/market/unit.ts';
import { systemClock } from '../src/runtime/clock.ts';

const PAGE = join(import.meta.dir, '../docs/demo.md');
const MONTHS = '2015-06 2016-02 2017-09 2018-10 2020-04 2021-05 2022-06 2023-09 2024-03 2026-05'.split(' ');
/** Symbols, and the World Bank's series of their commodity. */
const LEVELS = [
  ['XAU', 'XAU-AVG'],
  ['XAG', 'XAG-AVG'],
  ['PL', 'PL-AVG'],
  ['HG-SPOT', 'HG-AVG'],
  ['AL-SPOT', 'AL-AVG'],
  ['NICKEL-FUT', 'NICKEL-AVG'],
  ['ZINC', 'ZINC-AVG'],
  ['TIOC', 'IORECR'],
  ['WTIOIL-FUT', 'WTI-AVG'],
  ['BRENTOIL-FUT', 'BRENT-AVG'],
  ['NG-FUT', 'NG-US'],
  ['COAL', 'COAL-AU'],
  ['CORN', 'MAIZE'],
  ['ZW-FUT', 'ZWSRW'],
  ['SOYBEAN-FUT', 'SOYBEAN-AVG'],
  ['ZL', 'ZL-AVG'],
  ['CC', 'CC-AVG'],
  ['CA', 'CA-AVG'],
  ['LS11', 'LS11-AVG'],
  ['CT', 'COTTON-A'],
] as const;
/** Pairs of simulated symbols, and what they are compared with in the bundle. */
const PAIRS = [
  ['day', 'WTIOIL-SPOT', 'BRENTOIL-SPOT', 'WTIOIL-SPOT', 'BRENTOIL-SPOT'],
  ['day', 'WTIOIL-SPOT', 'WTIOIL-FUT', 'WTIOIL-SPOT', 'WTIOIL-FUT'],
  ['day', 'WTIOIL-SPOT', 'NG-SPOT', 'WTIOIL-SPOT', 'NG-SPOT'],
  ['month', 'WTIOIL-FUT', 'BRENTOIL-FUT', 'WTI-AVG', 'BRENT-AVG'],
  ['month', 'XAU', 'XAG', 'XAU-AVG', 'XAG-AVG'],
  ['month', 'XAU', 'PL', 'XAU-AVG', 'PL-AVG'],
  ['month', 'CORN', 'ZW-FUT', 'MAIZE', 'ZWSRW'],
  ['month', 'CORN', 'SOYBEAN-FUT', 'MAIZE', 'SOYBEAN-AVG'],
  ['month', 'SOYBEAN-FUT', 'ZL', 'SOYBEAN-AVG', 'ZL-AVG'],
  ['month', 'HG-SPOT', 'AL-SPOT', 'HG-AVG', 'AL-AVG'],
  ['month', 'HG-SPOT', 'ZINC', 'HG-AVG', 'ZINC-AVG'],
  ['month', 'CA', 'CR', 'CA-AVG', 'CR-AVG'],
  ['month', 'XAU', 'WTIOIL-FUT', 'XAU-AVG', 'WTI-AVG'],
] as const;

type Closes = Map<Day, number>;

const simulated = await simulatedCloses();
const real = await bundledCloses();
const text = await Bun.file(PAGE).text();
const tables = `<!-- bun scripts/demo.ts -->

${levelsTable()}

${correlationTable()}

<!-- end -->`;
await Bun.write(
  PAGE,
  text.replace(/<!-- bun scripts\/demo\.ts -->[\s\S]*<!-- end -->/, () => tables),
);

async function simulatedCloses(): Promise<Map<string, { closes: Closes; unitFactor: number }>> {
  const folder = mkdtempSync(join(tmpdir(), 'openpit-demo-'));
  const ledger = await Ledger.open(join(folder, 'demo.db'), systemClock);
  try {
    await new Simulator(ledger).fillHistory(systemClock.now());
    const symbols = await ledger.symbols.list();
    const found = new Map<string, { closes: Closes; unitFactor: number }>();
    for (const symbol of symbols) {
      const revisions = await ledger.bars.revisions(symbol.id, 'simulated', 0, parseDay('2100-01-01')!);
      const [, other] = LEVELS.find(([code]) => code === symbol.code) ?? [];
      const unit = symbols.find(({ code }) => code === other)?.unit.symbol;
      const factor = unit === undefined ? undefined : unitFactor(symbol, unit);
      const cents = symbol.currency.code === 'USX' ? 100 : 1;
      found.set(symbol.code, {
        closes: new Map(revisions.map(({ day, close }) => [day, close])),
        unitFactor: (factor ? converted(1, factor) : 1) / cents,
      });
    }
    return found;
  } finally {
    await ledger.close();
    rmSync(folder, { recursive: true });
  }
}

async function bundledCloses(): Promise<Map<string, Closes>> {
  const found = new Map<string, Closes>();
  for (const edition of EDITIONS.filter(({ provider }) => provider !== 'ecb')) {
    const { provider, archive } = bundledProvider(
      PROVIDERS.find(({ key }) => key === edition.provider)!,
      edition,
    );
    const [request] = provider.requests({});
    const symbolOf = new Map(provider.series.map(({ id, symbol }) => [id, symbol]));
    for (const { series, day, close } of provider.parse(await archive.read(request!), request!)
      .observations) {
      const symbol = symbolOf.get(series);
      if (symbol !== undefined) found.getOrInsertComputed(symbol, () => new Map()).set(day, close);
    }
  }
  return found;
}

function levelsTable(): string {
  const rows = LEVELS.map(([code, series]) => {
    const { closes, unitFactor: factor } = simulated.get(code)!;
    const [own, theirs] = [monthly(closes), monthly(real.get(series)!)];
    const cells = MONTHS.map((month) => {
      const by = ((own.get(month)! * factor) / theirs.get(month)! - 1) * 100;
      return `${by < 0 ? '−' : '+'}${Math.abs(by).toFixed(1)}`;
    });
    return [`\`${code}\``, ...cells];
  });
  return `Percent by which the mean of a month differs from the World Bank's:\n\n${table(['Symbol', ...MONTHS], rows)}`;
}

function correlationTable(): string {
  const rows = PAIRS.map(([interval, one, other, realOne, realOther]) => {
    const own = [simulated.get(one)!.closes, simulated.get(other)!.closes] as const;
    const theirs = [real.get(realOne)!, real.get(realOther)!] as const;
    const pick = (closes: Closes) => (interval === 'month' ? monthly(closes) : daily(closes));
    return [
      `\`${one}\`, \`${other}\``,
      interval,
      correlation(pick(own[0]), pick(own[1])).toFixed(2),
      correlation(pick(theirs[0]), pick(theirs[1])).toFixed(2),
    ];
  });
  const head = ['Symbols', 'Returns of a', 'Demo', 'Bundle'];
  return `Correlation of returns since 2015, in the demo and of the same commodities in the bundle:\n\n${table(head, rows)}`;
}

/** By day, as text; positive prices since 2015 only. */
function daily(closes: Closes): Map<string, number> {
  return new Map(
    [...closes]
      .map(([day, close]) => [printDay(day), close] as const)
      .filter(([date, close]) => date >= '2015' && close > 0),
  );
}

/** The mean of each month. */
function monthly(closes: Closes): Map<string, number> {
  const months = Map.groupBy(daily(closes), ([date]) => date.slice(0, 7));
  return new Map(
    [...months].map(([month, days]) => [month, days.reduce((sum, [, one]) => sum + one, 0) / days.length]),
  );
}

/** Of the log returns between the dates that both have. */
function correlation(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  const dates = [...a.keys()].filter((date) => b.has(date)).sort();
  const returns = (of: ReadonlyMap<string, number>) =>
    dates.slice(1).map((date, i) => Math.log(of.get(date)! / of.get(dates[i]!)!));
  const [x, y] = [centred(returns(a)), centred(returns(b))];
  const product = (p: readonly number[], q: readonly number[]) =>
    p.reduce((sum, one, i) => sum + one * q[i]!, 0);
  return product(x, y) / Math.sqrt(product(x, x) * product(y, y));
}

function centred(values: readonly number[]): number[] {
  const mean = values.reduce((sum, one) => sum + one, 0) / values.length;
  return values.map((one) => one - mean);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
