import fc from 'fast-check';
import type { Fault } from '../../../src/http/message/fault.ts';
import type { Head } from '../../../src/http/parse/head.ts';

/** First lines, valid and not. */
export const FIRST_LINES = [
  'GET / HTTP/1.1',
  'GET / HTTP/1.0',
  'GET /a?b=c%20"<>^`{|}~ HTTP/1.1',
  'GET /a#b HTTP/1.1',
  'GET /ä HTTP/1.1',
  'GET //a/b HTTP/1.1',
  'GET http://a/b HTTP/1.1',
  'GET /a\x7f HTTP/1.1',
  'GET /a\n HTTP/1.1',
  'GET /a HTTP/1.1 ',
  'GET /a HTTP/2.0',
  'HEAD / HTTP/1.1',
  'POST / HTTP/1.1',
  'POST / HTTP/1.0',
  'OPTIONS * HTTP/1.1',
  'GET * HTTP/1.1',
  '',
  ' GET / HTTP/1.1',
];

const LINES = [
  'Host: a',
  'host: b',
  'Host: a b',
  'Connection: close',
  'Connection: keep-alive',
  'Content-Length: 0',
  'Content-Length: 5',
  'Content-Length: +5',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: \xa0chunked',
  'Expect: 100-continue',
  'Expect: more',
  'X-Api-Key: \xe4',
  'X-Api-Key: \t b ',
  'X Api: b',
  ' folded: b',
  'bare\rreturn: b',
  'bare: re\rturn',
  'empty:',
];

/** The text of a head, valid or not, without the empty line at its end. */
export const anyHead = fc
  .tuple(
    fc.constantFrom(...FIRST_LINES),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant([] as string[]) },
      { weight: 1, arbitrary: fc.constant(['Host: a', `Long: ${'x'.repeat(2_100)}`]) },
      { weight: 6, arbitrary: fc.array(fc.constantFrom(...LINES), { maxLength: 4 }) },
    ),
  )
  .map(([first, lines]) => [first, ...lines].join('\r\n'));

/** The content of a head, or the refusal. */
export function contentOf(head: Head | Fault): unknown {
  if ('reason' in head) return { status: head.status, reason: head.reason };
  const { method, url, isHttp10, persists, expectsContinue, framing, headers } = head;
  const values = ['host', 'x-api-key', 'connection', 'content-length', 'expect', 'empty', 'long'].map(
    (name) => headers.get(name),
  );
  return { method, url, isHttp10, persists, expectsContinue, framing, values };
}
