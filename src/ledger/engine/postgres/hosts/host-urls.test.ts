import { expect, test } from 'bun:test';
import { hostOf, hostUrls } from './host-urls.ts';

test('several hosts become one URL each, with the same user, database and parameters', () => {
  expect(hostUrls('postgres://u:p%40ss@one:5432,two:5433/db?sslmode=require')).toEqual([
    'postgres://u:p%40ss@one:5432/db?sslmode=require',
    'postgres://u:p%40ss@two:5433/db?sslmode=require',
  ]);
});

test('a host may lack a port, be an IPv6 address, or be the only one', () => {
  expect(hostUrls('postgresql://one,[::1]:5433, three/db')).toEqual([
    'postgresql://one/db',
    'postgresql://[::1]:5433/db',
    'postgresql://three/db',
  ]);
  expect(hostUrls('postgres://u:p@one/db')).toEqual(['postgres://u:p@one/db']);
});

test('a parameter of libpq that asks for the writable host is accepted', () => {
  expect(hostUrls('postgres://a,b/db?target_session_attrs=read-write&prepare=false')).toEqual([
    'postgres://a/db?prepare=false',
    'postgres://b/db?prepare=false',
  ]);
});

test('a URL that cannot be used is an error without its password', () => {
  for (const url of ['postgres://u:secret@one:port/db', 'postgres://u:secret@one:1,two:99999/db']) {
    expect(() => hostUrls(url)).toThrow('a host that cannot be used');
    expect(() => hostUrls(url)).not.toThrow('secret');
  }
});

test('a URL without a host is an error that says how to write it', () => {
  for (const url of [
    'postgres:///db',
    'postgres://u:secret@/db',
    'postgres://:5432/db',
    'postgres://one,/db',
  ]) {
    expect(() => hostUrls(url)).toThrow('the database URL lacks a host: write postgres://USER:PASSWORD@HOST');
    expect(() => hostUrls(url)).not.toThrow('secret');
  }
});

test('what messages name of a URL is its host', () => {
  expect(hostOf('postgres://u:secret@one:5433/db')).toBe('one:5433');
});
