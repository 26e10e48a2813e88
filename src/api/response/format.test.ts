import { expect, test } from 'bun:test';
import { formatAccepted } from './format.ts';

const ACCEPTED: [accept: string | null, format: string][] = [
  [null, 'json'],
  ['*/*', 'json'],
  ['', 'json'],
  ['application/json', 'json'],
  ['application/json, text/plain, */*', 'json'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8', 'json'],
  ['text/html', 'json'],
  ['text/csv', 'csv'],
  ['TEXT/CSV; charset=utf-8', 'csv'],
  ['text/csv, */*', 'csv'],
  ['text/csv, */*;q=0.1', 'csv'],
  ['text/csv;q=0.5, */*', 'json'],
  ['text/csv;q=0', 'json'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['text/csv;q=0.5, application/x-ndjson;q=0.9', 'ndjson'],
  ['application/json;q=0.5, text/csv', 'csv'],
  ['application/json, text/csv', 'json'],
  ['text/csv, application/json', 'csv'],
  ['text/csv;q=x', 'json'],
  [',,;;=', 'json'],
  ['constructor', 'json'],
];
for (const [accept, format] of ACCEPTED) {
  test(`Accept: ${accept} gets ${format}`, () => {
    expect(formatAccepted(accept)).toBe(format as ReturnType<typeof formatAccepted>);
  });
}
