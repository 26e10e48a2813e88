import { BodyParser } from '../../src/http/parse/body.ts';
import { parseHead } from '../../src/http/parse/head.ts';
import { law, type Target } from './target.ts';

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');
const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'));

/** The HTTP parsers of the server. */
export const HTTP_TARGETS: readonly Target[] = [
  {
    name: 'http-head',
    seeds: [
      'GET /rates/latest?symbols=XAU HTTP/1.1\r\nHost: a\r\nx-api-key: k\r\nConnection: close',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue',
      'POST http://a/b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked',
    ].map(bytes),
    words: [
      '\r\n',
      '\n',
      '\r',
      ':',
      ' ',
      '\t',
      '\0',
      'Host',
      'Content-Length',
      'Transfer-Encoding',
      'chunked',
      'HTTP/1.1',
      'http://',
    ],
    run(input) {
      const head = parseHead(latin1(input));
      if ('reason' in head)
        return law(head.status >= 400 && head.reason !== '', 'a refusal without a reason');
      law(/^[!-~]+$/.test(head.url) && /^[/*]/.test(head.url), 'an invalid character in the path');
      law(/^[!-~]+$/.test(head.method), 'an invalid character in the method');
      for (const name of ['host', 'content-length', 'transfer-encoding', 'connection', 'x-api-key'])
        law(!/[\r\n\0]/.test(head.headers.get(name) ?? ''), 'a line end in a header');
      const [length, coding] = [head.headers.get('content-length'), head.headers.get('transfer-encoding')];
      law(length === null || coding === null, 'two framings');
      law(
        head.framing?.kind !== 'length' || String(head.framing.bytes) === length!.replace(/^0+/, ''),
        'another length',
      );
      law(coding === null || head.framing?.kind === 'chunked', 'an unsupported encoding was accepted');
    },
  },
  {
    name: 'http-chunks',
    seeds: ['5\r\nhello\r\n0\r\n\r\nGET', '3;a=b\r\nabc\r\n2\r\nde\r\n0\r\n\r\n'].map(bytes),
    words: ['\r\n', '\n', '0', 'ff', ';', ' ', '0\r\n\r\n'],
    run(input) {
      const whole = parseIn(input, [input.length]);
      for (const cut of [1, 2, input.length >> 1, input.length - 1])
        law(parseIn(input, [cut, input.length]) === whole, `split at ${cut} it is another body`);
      const each = Array.from(input, (_, i) => i + 1);
      law(parseIn(input, each) === whole, 'byte by byte it is another body');
    },
  },
];

/** The outcome of a body that arrives in these pieces: its text and its end, or the refusal. */
function parseIn(input: Uint8Array, ends: readonly number[]): string {
  const parser = new BodyParser({ kind: 'chunked' }, 10_000);
  let at = 0;
  let taken = 0;
  for (const end of ends) {
    if (end <= at || parser.isComplete) continue;
    const took = parser.take(input.subarray(at, end));
    if (typeof took !== 'number') return `refused ${took.status}`;
    taken += took;
    at = end;
  }
  return `${parser.isComplete} ${taken} ${latin1(parser.bytes)}`;
}
