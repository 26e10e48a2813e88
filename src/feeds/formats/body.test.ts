import { expect, test } from 'bun:test';
import { strToU8, zipSync } from 'fflate';
import { kindOf, textOf } from './body.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const big = strToU8('x'.repeat(200_000));

test.each([
  ['DATE,DCOILWTICO\n1986-01-02,25.56\n', 'csv'],
  ['\uFEFFDate,Open\r\n', 'csv'],
  ['"Back to Contents","Data 1: x"\n', 'csv'],
  ['  [{"d":"1968-04-01"}]', 'json'],
  ['\n{"response":{}}', 'json'],
  ['<?xml version="1.0" encoding="UTF-8"?><gesmes:Envelope>', 'xml'],
  ['<message:StructureSpecificData>', 'xml'],
  ['<!-- x -->\n<!doctype HTML>', 'html'],
  ['<?xml version="1.0"?><!DOCTYPE html><html xmlns="x">', 'html'],
  ['<script>location="/verify"</script>', 'html'],
  ['<rss><channel><title>x</title>', 'xml'],
  ['\n<?xml version="1.0"?>', 'xml'],
  ['', 'empty'],
  [' \r\n ', 'empty'],
  ['\uFEFF', 'empty'],
  ['a,b\0c', 'binary'],
])('%j is %s', (text, kind) => {
  expect(kindOf(bytes(text))).toBe(kind as ReturnType<typeof kindOf>);
});

test('a zip is distinguished from a workbook, wherever its parts are', () => {
  expect(kindOf(zipSync({ 'eurofxref-hist.csv': big }))).toBe('zip');
  expect(kindOf(zipSync({ '[Content_Types].xml': big, 'xl/workbook.xml': big }))).toBe('xlsx');
  expect(kindOf(zipSync({ 'xl/workbook.xml': big, '[Content_Types].xml': big }))).toBe('xlsx');
});

test('UTF-16 with a byte order mark is text, whichever byte of a character comes first', () => {
  const littleEndFirst = Buffer.from('\uFEFFday,price\n', 'utf16le');
  for (const body of [littleEndFirst, Buffer.from(littleEndFirst).swap16()]) {
    expect(kindOf(body)).toBe('csv');
    expect(textOf(body, 'CSV')).toBe('day,price\n');
  }
});

test('a compressed file is binary', () => {
  expect(kindOf(Bun.gzipSync(bytes('date,value\n')))).toBe('binary');
});
