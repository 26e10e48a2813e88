import { expect, test } from 'bun:test';
import { snippet } from './snippets.ts';

const write = (language: Parameters<typeof snippet>[0], path: string) =>
  snippet(language, 'http://h', path, 'K');

test('a spreadsheet asks for CSV once, whatever format was chosen and wherever it stands', () => {
  for (const [path, url] of [
    ['/symbols', '/symbols?format=csv'],
    ['/symbols?format=json', '/symbols?format=csv'],
    ['/rates/latest?format=json&symbols=XAU', '/rates/latest?symbols=XAU&format=csv'],
    ['/rates/latest?symbols=XAU&format=ndjson&unit=kg', '/rates/latest?symbols=XAU&unit=kg&format=csv'],
  ])
    expect(write('Spreadsheet', path!)).toBe(`=IMPORTDATA("http://h${url}&apiKey=K"; ","; "en_US")`);
});

test('a Parquet file is saved, not printed or read as JSON', () => {
  const path = '/rates/latest?symbols=XAU&format=parquet';
  expect(write('Python', path)).toEndWith("open('rates.parquet', 'wb').write(response.content)");
  expect(write('JavaScript', path)).toEndWith('console.log(await response.arrayBuffer());');
});
