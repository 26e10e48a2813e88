import { type Day, printDay } from '../../market/day.ts';
import { decode, kindOf, textOf } from '../formats/body.ts';
import { quote, readCell } from '../formats/cell.ts';
import { Collector } from '../formats/collector.ts';
import { parsePlainDay } from '../formats/day.ts';
import { firstLine, isFootnote, readTable, type TextTable } from '../formats/table.ts';
import { attributeOf, childrenOf, type Element, parseXml } from '../formats/xml.ts';
import { Zip } from '../formats/zip.ts';
import type { Provider } from '../provider.ts';
import { parsedOf } from './adapter/parsed.ts';
import { isColumn, settingsOf } from './adapter/settings.ts';

const SETTINGS = settingsOf('ecb');

/** Reference rates: units of a currency for 1 EUR. A series' id is its currency's code. */
export const ecb: Provider = {
  ...SETTINGS,
  requests(_secrets, since) {
    return since === undefined ? [{ url: this.urls.history! }] : [{ url: this.urls.recent!, body: 'xml' }];
  },
  parse(body) {
    const collector = new Collector();
    const kind = kindOf(body);
    if (kind === 'zip') {
      const zip = new Zip(body);
      const names = zip.names.filter((name) => /\.(csv|xml)$/i.test(name));
      if (names.length === 0) throw new Error('the zip file contains no CSV or XML');
      for (const name of names) readText(decode(zip.read(name)!), collector);
    } else {
      readText(textOf(body, 'XML, CSV or zip'), collector);
    }
    const parsed = parsedOf(collector, { complete: kind === 'zip' }); // all history, since 1999
    if (parsed.observations.length + parsed.refused.length === 0) throw new Error('the body has no rates');
    return parsed;
  },
};

function readText(text: string, collector: Collector): void {
  if (text.trimStart().startsWith('<')) {
    readXml(parseXml(text.trim()), collector);
    return;
  }
  const table = readTable(text, (names) => isWide(names) || isSdmx(names));
  if (!table) throw new Error(`no line has the column Date; the text starts with ${quote(firstLine(text))}`);
  if (isSdmx(table.header)) readSdmx(table, collector);
  else readWide(table, collector);
}

function readXml(root: Element, collector: Collector): void {
  const days = childrenOf(childrenOf(root, 'Envelope')[0], 'Cube').flatMap((cube) =>
    childrenOf(cube, 'Cube'),
  );
  for (const dayCube of days) {
    const time = attributeOf(dayCube, 'time') ?? '';
    const day = parsePlainDay(time);
    if (day === undefined) {
      collector.refuse(`time ${quote(time)}`, 'it is not a day');
      continue;
    }
    for (const rate of childrenOf(dayCube, 'Cube')) {
      take(collector, attributeOf(rate, 'currency') ?? '', day, attributeOf(rate, 'rate'), printDay(day));
    }
  }
}

function isWide(names: readonly string[]): boolean {
  return (
    isColumn(SETTINGS, 'date', names[0]) && names.slice(1).some((name) => currencyOf(name) !== undefined)
  );
}

/** The currency of a column: `USD`, or `US dollar/Euro (EXR.D.USD.EUR.SP00.A)` in downloads of the data portal. */
function currencyOf(name: string): string | undefined {
  const code = /^[A-Z]{3}$/i.exec(name)?.[0] ?? /\bEXR\.D\.([A-Z]{3})\.EUR\.SP00\.A\b/.exec(name)?.[1];
  return code?.toUpperCase();
}

/** One column per currency. Some files have a comma at the end of each row. */
function readWide({ header, rows }: TextTable, collector: Collector): void {
  const currencies = header.map((name, index) => (index === 0 ? undefined : currencyOf(name)));
  for (const { line, cells } of rows) {
    if (isFootnote(cells)) continue;
    const where = `line ${line}`;
    const day = parsePlainDay(cells[0] ?? '');
    if (day === undefined) {
      collector.refuse(where, `${quote(cells[0] ?? '')} is not a day`);
      continue;
    }
    for (const [i, currency] of currencies.entries()) {
      if (currency) take(collector, currency, day, cells[i], where);
    }
  }
}

function isSdmx(names: readonly string[]): boolean {
  const upper = names.map((name) => name.toUpperCase());
  return ['CURRENCY', 'TIME_PERIOD', 'OBS_VALUE'].every((name) => upper.includes(name));
}

/** The data portal's format, with one row per rate. Only daily spot rates against the euro are reference rates. */
function readSdmx({ header, rows }: TextTable, collector: Collector): void {
  const names = header.map((name) => name.toUpperCase());
  const expected = { FREQ: 'D', CURRENCY_DENOM: 'EUR', EXR_TYPE: 'SP00' };
  for (const { line, cells } of rows) {
    const cell = (name: string): string | undefined => cells[names.indexOf(name)];
    const where = `line ${line}`;
    const currency = cell('CURRENCY') ?? '';
    const wrong = Object.entries(expected).find(([name, value]) => (cell(name) ?? value) !== value);
    const day = parsePlainDay(cell('TIME_PERIOD') ?? '');
    if (wrong) {
      const reason = `${quote(currency)} has ${wrong[0]} ${quote(cell(wrong[0]) ?? '')} where the reference rate has ${wrong[1]}`;
      collector.refuseSeries(`${currency} ${wrong[0]}`, where, reason);
    } else if (day === undefined) collector.refuse(where, `${quote(cell('TIME_PERIOD') ?? '')} is not a day`);
    else take(collector, currency, day, cell('OBS_VALUE'), where);
  }
}

function take(collector: Collector, code: string, day: Day, cell: string | undefined, where: string): void {
  const value = readCell(cell);
  if (!/^[A-Z]{3}$/.test(code)) collector.refuseSeries(code, where, `${quote(code)} is not a currency`);
  else if (value === 'missing') collector.missing++;
  else if (value === undefined || value <= 0)
    collector.refuse(where, `${quote(cell ?? '')} is not a rate of ${code}`);
  else collector.addValue(code, day, value, where);
}
