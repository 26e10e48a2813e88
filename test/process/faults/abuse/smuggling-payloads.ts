/** The expected outcome of a payload: refused and closed, or, where HTTP allows it, parsed as intended. */
export type Fate = 'refused' | 'read';

export interface Payload {
  name: string;
  text: string;
  fate: Fate;
}

const HOST = 'Host: test\r\n';

/** Requests that two parsers may interpret differently. `hidden` is the request that must never be answered. */
export function smugglingPayloads(hidden: string): Payload[] {
  const post = (headers: string, body: string, line = 'POST /usage') =>
    `${line} HTTP/1.1\r\n${HOST}${headers}\r\n${body}`;
  const get = (line: string, headers = HOST) => `${line}\r\n${headers}\r\n`;
  const chunked = (body: string) => post('Transfer-Encoding: chunked\r\n', body);
  const refused: [name: string, text: string][] = [
    [
      'a length and chunks',
      post('Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${hidden}`),
    ],
    [
      'chunks and a length',
      post('Transfer-Encoding: chunked\r\nContent-Length: 4\r\n', `0\r\n\r\n${hidden}`),
    ],
    [
      'chunks and a length on a GET',
      post('Transfer-Encoding: chunked\r\nContent-Length: 6\r\n', `0\r\n\r\n${hidden}`, 'GET /usage'),
    ],
    ['two lengths, the first 0', post(`Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n`, hidden)],
    ['two lengths, the last 0', post(`Content-Length: ${hidden.length}\r\nContent-Length: 0\r\n`, hidden)],
    [
      'the same length twice',
      post(`Content-Length: ${hidden.length}\r\nContent-Length: ${hidden.length}\r\n`, hidden),
    ],
    ['a list of lengths', post(`Content-Length: 0, ${hidden.length}\r\n`, hidden)],
    ['a list of the same length', post('Content-Length: 3, 3\r\n', `abc${hidden}`)],
    ['a negative length', post('Content-Length: -1\r\n', hidden)],
    ['a length with a sign', post('Content-Length: +3\r\n', `abc${hidden}`)],
    ['a length in hex', post('Content-Length: 0x3\r\n', `abc${hidden}`)],
    ['a length with a blank in it', post('Content-Length: 3 3\r\n', `abc${hidden}`)],
    ['a length with a point', post('Content-Length: 3.0\r\n', `abc${hidden}`)],
    ['an empty length', post('Content-Length: \r\n', hidden)],
    ['a length over 64 bits', post('Content-Length: 18446744073709551619\r\n', `abc${hidden}`)],
    ['a blank before the colon of a length', post('Content-Length : 3\r\n', `abc${hidden}`)],
    [
      'a blank before the colon of an encoding',
      post('Transfer-Encoding : chunked\r\n', `0\r\n\r\n${hidden}`),
    ],
    ['a tab before the colon', post('Transfer-Encoding\t: chunked\r\n', `0\r\n\r\n${hidden}`)],
    ['the encoding xchunked', post('Transfer-Encoding: xchunked\r\n', `0\r\n\r\n${hidden}`)],
    [
      'the encoding xchunked and a length',
      post('Transfer-Encoding: xchunked\r\nContent-Length: 3\r\n', `abc${hidden}`),
    ],
    ['the encoding "chunked" in quotes', post('Transfer-Encoding: "chunked"\r\n', `0\r\n\r\n${hidden}`)],
    ['the encoding identity', post('Transfer-Encoding: identity\r\n', hidden)],
    ['chunked, then identity', post('Transfer-Encoding: chunked, identity\r\n', `0\r\n\r\n${hidden}`)],
    ['gzip, then chunked', post('Transfer-Encoding: gzip, chunked\r\n', `0\r\n\r\n${hidden}`)],
    ['chunked twice', post('Transfer-Encoding: chunked, chunked\r\n', `0\r\n\r\n${hidden}`)],
    [
      'two encodings',
      post('Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${hidden}`),
    ],
    [
      'two encodings the other way',
      post('Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n', `0\r\n\r\n${hidden}`),
    ],
    ['a vertical tab before the encoding', post('Transfer-Encoding: \x0bchunked\r\n', `0\r\n\r\n${hidden}`)],
    ['an encoding on a folded line', post('Transfer-Encoding:\r\n chunked\r\n', `0\r\n\r\n${hidden}`)],
    ['an encoding behind a bare LF', post('X: y\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${hidden}`)],
    ['an encoding behind a bare CR', post('X: y\rTransfer-Encoding: chunked\r\n', `0\r\n\r\n${hidden}`)],
    [
      'chunks in HTTP/1.0',
      `POST /usage HTTP/1.0\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    ],
    ['a chunk size that is no number', chunked(`zz\r\nabc\r\n0\r\n\r\n${hidden}`)],
    ['a negative chunk', chunked(`-3\r\nabc\r\n0\r\n\r\n${hidden}`)],
    ['a chunk size with 0x', chunked(`0x3\r\nabc\r\n0\r\n\r\n${hidden}`)],
    ['a chunk size with a blank before it', chunked(` 3\r\nabc\r\n0\r\n\r\n${hidden}`)],
    ['a chunk size over 64 bits', chunked(`10000000000000003\r\nabc\r\n0\r\n\r\n${hidden}`)],
    ['an empty chunk size', chunked(`\r\nabc\r\n0\r\n\r\n${hidden}`)],
    ['chunks with bare LF', chunked(`3\nabc\n0\n\n${hidden}`)],
    ['a chunk extension that ends in LF', chunked(`3;x\nabc\r\n0\r\n\r\n${hidden}`)],
    ['a chunk without its end', chunked(`3\r\nabcXX0\r\n\r\n${hidden}`)],
    ['a chunk that is longer than it says', chunked(`2\r\nabc\r\n0\r\n\r\n${hidden}`)],
    ['a trailer', chunked(`0\r\nX: y\r\n\r\n${hidden}`)],
    ['a request in the trailer', chunked(`0\r\n${hidden}`)],
    ['bare LF', `GET /usage HTTP/1.1\nHost: test\n\n${hidden}`],
    ['one bare LF', get('GET /usage HTTP/1.1', `Host: test\nX: y\r\n`)],
    ['a bare CR', get('GET /usage HTTP/1.1', `Host: test\rX: y\r\n`)],
    ['CR CR LF', get('GET /usage HTTP/1.1', `${HOST}X: y\r\r\n`)],
    ['a folded header', get('GET /usage HTTP/1.1', `${HOST}X: y\r\n z\r\n`)],
    ['a first header that is folded', get('GET /usage HTTP/1.1', ` X: y\r\n${HOST}`)],
    ['a header without a colon', get('GET /usage HTTP/1.1', `${HOST}x\r\n`)],
    ['a header without a name', get('GET /usage HTTP/1.1', `${HOST}: x\r\n`)],
    ['NUL in a header', get('GET /usage HTTP/1.1', `${HOST}X: a\0b\r\n`)],
    ['NUL in a name', get('GET /usage HTTP/1.1', `${HOST}X\0: b\r\n`)],
    ['NUL in the path', get('GET /us\0age HTTP/1.1')],
    ['a control character in a header', get('GET /usage HTTP/1.1', `${HOST}X: a\x01b\r\n`)],
    ['brackets in a name', get('GET /usage HTTP/1.1', `${HOST}X(y): b\r\n`)],
    ['two hosts', get('GET /usage HTTP/1.1', `${HOST}${HOST}`)],
    ['no host', get('GET /usage HTTP/1.1', '')],
    ['two blanks in the first line', get('GET  /usage HTTP/1.1')],
    ['a blank in the path', get('GET /us age HTTP/1.1')],
    ['tabs in the first line', get('GET\t/usage\tHTTP/1.1')],
    ['a path without a slash', get('GET usage HTTP/1.1')],
    ['an invalid method', get('G(T /usage HTTP/1.1')],
    ['a tunnel', `CONNECT test:443 HTTP/1.1\r\n${HOST}\r\n${hidden}`],
    ['HTTP/0.9', `GET /usage\r\n\r\n${hidden}`],
    ['HTTP/2.0', get('GET /usage HTTP/2.0')],
    ['the preface of HTTP/2', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${hidden}`],
    ['a hello of TLS', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03'],
    ['a blank after a chunk size', chunked(`3 \r\nabc\r\n0\r\n\r\n${hidden}`)],
    ['a bare LF in an address', get('GET http://test\nX:y/usage HTTP/1.1')],
    ['a bare CR in an address', get('GET http://test\rX:y/usage HTTP/1.1')],
    ['a proxy header', `PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n${hidden}`],
  ];
  const read: [name: string, text: string][] = [
    ['a length with zeros before it', post(`Content-Length: 00${hidden.length}\r\n`, hidden)],
    ['a request as a body', post(`Content-Length: ${hidden.length}\r\n`, hidden)],
    ['a request as the body of a GET', post(`Content-Length: ${hidden.length}\r\n`, hidden, 'GET /usage')],
    ['a request in a chunk', chunked(`${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`)],
    [
      'a request in a chunk of a GET',
      post(
        'Transfer-Encoding: chunked\r\n',
        `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`,
        'GET /usage',
      ),
    ],
    ['a chunk extension', chunked('3;x=y\r\nabc\r\n0\r\n\r\n')],
    ['an encoding in capitals', post('TRANSFER-ENCODING: CHUNKED\r\n', '0\r\n\r\n')],
    ['an address as the path', get('GET http://other/usage HTTP/1.1')],
    ['an unknown method', get('BREW /usage HTTP/1.1')],
    ['a method in small letters', get('get /usage HTTP/1.1')],
    ['HTTP/1.2', get('GET /usage HTTP/1.2')],
    ['TRACE', get('TRACE /usage HTTP/1.1')],
    ['an upgrade to HTTP/2', get('GET /usage HTTP/1.1', `${HOST}Connection: Upgrade\r\nUpgrade: h2c\r\n`)],
  ];
  const all = (list: typeof read, fate: Fate) => list.map(([name, text]) => ({ name, text, fate }));
  return [...all(refused, 'refused'), ...all(read, 'read')];
}
