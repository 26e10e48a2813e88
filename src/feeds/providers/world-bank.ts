import { decode, kindOf } from '../formats/body.ts';
import { quote, readCell } from '../formats/cell.ts';
import { Collector } from '../formats/collector.ts';
import { parseMonth } from '../formats/day.ts';
import type { SheetRow } from '../formats/xlsx/sheet.ts';
import { readSheet } from '../formats/xlsx/workbook.ts';
import type { FeedRequest, Parsed, Provider } from '../provider.ts';
import { parsedOf, wrongUnit } from './adapter/parsed.ts';
import { isColumn, settingsOf } from './adapter/settings.ts';

const SETTINGS = settingsOf('world-bank');
const SERIES = SETTINGS.series;

/** All names and codes of a series in past editions, normalized by `plain`. */
const idOfName = new Map(
  SERIES.flatMap(({ id, also = [] }) => [id, ...also].map((name) => [plain(name), id] as const)),
);

/** The Pink Sheet. Its URL changes with each edition, so a run starts at the page that links to it. */
export const worldBank: Provider = {
  ...SETTINGS,
  requests() {
    const url = this.urls.page!;
    return [{ url, body: /\.xlsx?(\?|#|$)/i.test(url) ? 'xlsx' : 'html' }];
  },
  parse(body, request) {
    const kind = kindOf(body);
    if (kind === 'zip' || kind === 'xlsx') return parseWorkbook(body);
    if (kind === 'empty') throw new Error('the body is empty');
    if (request.body === 'html')
      return { observations: [], missing: 0, refused: [], next: workbookOn(decode(body), request) };
    throw new Error(
      kind === 'html'
        ? 'the body is a web page (HTML) where a workbook was expected'
        : 'the body is not an XLSX workbook',
    );
  },
};

/** The link to the monthly workbook on the landing page; the page also links to the annual one, and to PDFs. */
function workbookOn(page: string, request: FeedRequest): FeedRequest {
  for (const [, , link] of page.matchAll(/\bhref\s*=\s*(["'])([^"'<>\s]{1,500})\1/gi)) {
    const href = link!.replaceAll('&amp;', '&');
    if (!/monthly[^/]*\.xlsx?(\?|#|$)/i.test(href) || !URL.canParse(href, request.url)) continue;
    const url = new URL(href, request.url);
    if (url.protocol === 'http:' && url.host !== new URL(request.url).host) url.protocol = 'https:';
    if (isAllowed(url, request)) return { url: url.href, body: 'xlsx' };
  }
  throw new Error('the page has no link to the monthly workbook; it may have moved');
}

/** Links lead to the World Bank's own hosts, or stay on the host of the page. */
function isAllowed(url: URL, { url: page }: FeedRequest): boolean {
  if (url.host === new URL(page).host) return true;
  return url.protocol === 'https:' && SETTINGS.hosts!.includes(url.hostname);
}

function parseWorkbook(body: Uint8Array): Parsed {
  const rows = readSheet(body, (name) => isColumn(SETTINGS, 'sheet', tidy(name)));
  const first = rows.findIndex((row) => isMonth(row.cells.get(0)));
  if (first < 0)
    throw new Error('the sheet Monthly Prices has no row that starts with a month such as 1960M01');
  const columns = readHeader(rows.slice(0, first));
  const collector = new Collector();
  const wanted = columns.filter((column, i) => isAsExpected(column, columns.slice(0, i), collector));
  if (wanted.length === 0) throw new Error('the sheet Monthly Prices names no series above its first month');
  for (const row of rows.slice(first)) readRow(row, wanted, collector);
  return parsedOf(collector, { complete: true });
}

interface Column {
  index: number;
  id: string;
  unit: string;
}

/** Names are above units. Titles are rows with one cell. Some editions have a row of codes, above or below. */
function readHeader(rows: readonly SheetRow[]): Column[] {
  const wide = rows.filter(({ cells }) => cells.size > 2);
  const unitRow = wide.findLast(
    ({ cells }) => countOf(cells, (text) => text.startsWith('(')) * 2 > cells.size,
  );
  if (!unitRow) throw new Error('the sheet Monthly Prices has no row of units such as ($/bbl)');
  const nameRows = wide.filter((row) => row !== unitRow).reverse();
  const indexes = new Set(nameRows.flatMap(({ cells }) => [...cells.keys()]));
  indexes.delete(0);
  const columns: Column[] = [];
  for (const index of [...indexes].sort((a, b) => a - b)) {
    const texts = nameRows.flatMap(({ cells }) => cells.get(index) ?? []);
    const known = texts.map((text) => idOfName.get(plain(text))).find((id) => id !== undefined);
    const name = known ?? texts.find((text) => !isCode(text)) ?? texts[0]!;
    columns.push({ index, id: known ?? tidy(name), unit: unitRow.cells.get(index) ?? '' });
  }
  return columns;
}

/** Refuses a column whose unit label differs from the expected one, and a second column of the same name. */
function isAsExpected({ index, id, unit }: Column, before: readonly Column[], collector: Collector): boolean {
  const provided = SERIES.find((one) => one.id === id);
  const twin = before.find((one) => one.id === id);
  const reason = twin
    ? `it has the same name, ${id}, as column ${twin.index + 1}`
    : provided && wrongUnit(provided, unit);
  if (reason) collector.refuseSeries(`${id} ${index}`, `column ${index + 1}`, reason);
  return !reason;
}

function readRow({ number, cells }: SheetRow, columns: readonly Column[], collector: Collector): void {
  const month = cells.get(0) ?? '';
  const day = isMonth(month) ? parseMonth(month) : undefined;
  if (day === undefined) {
    // A footnote has text but no numbers. A row of numbers needs a month.
    const numbers = columns.filter(({ index }) => typeof readCell(cells.get(index)) === 'number');
    if (numbers.length > 0) collector.refuse(`row ${number}`, `${quote(month)} is not a month`);
    return;
  }
  for (const { index, id } of columns) {
    const text = cells.get(index);
    const value = readCell(text);
    if (value === 'missing') collector.missing++;
    else if (value === undefined)
      collector.refuse(`row ${number}`, `${quote(text ?? '')} is not a number (${id})`);
    else collector.addValue(id, day, value, `row ${number}, column ${index + 1}`);
  }
}

function isMonth(text: string | undefined): boolean {
  return text !== undefined && /^\d{4}\s?M\s?\d{1,2}$/i.test(text);
}

/** `CRUDE_PETRO`, against `Crude oil, average`. */
function isCode(text: string): boolean {
  return /^[A-Z0-9]+(_[A-Z0-9]+)+$/i.test(text);
}

/** Removes footnote marks and extra spaces. */
function tidy(name: string): string {
  return name
    .replace(/[*†‡]|\s\d\/$/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

function plain(name: string): string {
  return tidy(name).toLowerCase();
}

function countOf(cells: ReadonlyMap<number, string>, test: (text: string) => boolean): number {
  return [...cells.values()].filter(test).length;
}
