import { expect, test } from 'bun:test';
import { createKey, secureRandom } from '../../gate/key.ts';
import { redactUrl } from './redact-url.ts';

const key = createKey(secureRandom);
const escaped = [...key].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');

test('a URL without a key is unchanged', () => {
  for (const url of ['/', '/rates/latest?symbols=XAU,XAG&date=2024-05-14', '/a?b&c=&=d&%zz'])
    expect(redactUrl(url)).toBe(url);
});

test('what may be another secret is redacted by its name', () => {
  for (const name of [
    'admin_token',
    'adminToken',
    'password',
    'webhook-secret',
    'X-Amz-Signature',
    'p%61ssword',
  ])
    expect(redactUrl(`/admin/replicas?limit=5&${name}=s3cr3t`)).toBe(
      `/admin/replicas?limit=5&${name}=REDACTED`,
    );
});

test('a key is redacted wherever and however it is written in a URL', () => {
  const urls = [
    `/usage?apiKey=${key}`,
    `/usage?APIKEY=${key}&symbols=XAU`,
    `/usage?api%4Bey=${escaped}`,
    `/usage?apiKey=secret-of-another-kind`,
    `/rates/latest?symbols=XAU&amp;apiKey=secret-of-another-kind`,
    `/rates/latest?symbols=XAU?apiKey=secret-of-another-kind`,
    `/usage?a?b=c?apiKey=secret-of?another-secret`,
    `/usage?symbols=${key}`,
    `/usage?symbols=${escaped}`,
    `/usage?${key}`,
    `/${key}/usage?a=b`,
    `/usage?a?apiKey=${key}`,
  ];
  for (const url of urls) {
    const redacted = redactUrl(url);
    expect(redacted).not.toContain(key.slice(9));
    expect(redacted).not.toContain(escaped.slice(30));
    expect(redacted).not.toContain('secret');
    expect(redacted).toContain('REDACTED');
  }
});
