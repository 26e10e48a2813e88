import type { Reply } from './reply.ts';

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  204: 'No Content',
  206: 'Partial Content',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Content Too Large',
  414: 'URI Too Long',
  416: 'Range Not Satisfiable',
  417: 'Expectation Failed',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
  505: 'HTTP Version Not Supported',
  507: 'Insufficient Storage',
};

/** More than this is not copied to be sent together with header lines. */
export const COPIED_BYTES_MAX = 64 * 1024;

/** The part of a request that decides the framing of its response. */
interface RequestLine {
  readonly method: string;
  readonly isHttp10: boolean;
}

/** The status line and the date, each with its line end. */
export function firstLines(status: number, nowMs: number): string {
  return `HTTP/1.1 ${status} ${REASONS[status] ?? ''}\r\nDate: ${dateText(nowMs)}\r\n`;
}

/** Header lines, each with its line end, without the empty line that ends a head. */
export function headerLines(headers: Readonly<Record<string, string>>): string {
  let text = '';
  for (const name in headers) text += `${name}: ${oneLine(headers[name]!)}\r\n`;
  return text;
}

/** Serializes a response; of one with a stream or a separate body, its head. `lines` are additional header lines. */
export function replyBytes(
  { status, headers, body, length }: Reply,
  request: RequestLine | undefined,
  lines: string,
  nowMs: number,
): Buffer {
  const framing = hasBody(status) ? framingLine(body, length, request) : '';
  const head = `${firstLines(status, nowMs)}${headerLines(headers)}${lines}${framing}\r\n`;
  const isHeadOnly = body === null || !hasBody(status) || request?.method === 'HEAD';
  if (isHeadOnly || body instanceof ReadableStream || isParts(body)) return Buffer.from(head);
  if (typeof body === 'string') return Buffer.from(head + body);
  return separateBody(body) ? Buffer.from(head) : Buffer.concat([Buffer.from(head), body]);
}

/**
 * How the client finds the end of the body. HTTP/1.0 has no chunks: there, a stream of unknown length ends with the
 * connection. The response to HEAD has no length if it is unknown.
 */
function framingLine(
  body: Reply['body'],
  length: number | undefined,
  request: RequestLine | undefined,
): string {
  if (!(body instanceof ReadableStream)) {
    return `Content-Length: ${bodyLength(body)}\r\n`;
  }
  if (length !== undefined) return `Content-Length: ${length}\r\n`;
  return request?.isHttp10 || request?.method === 'HEAD' ? '' : 'Transfer-Encoding: chunked\r\n';
}

function bodyLength(body: Exclude<Reply['body'], ReadableStream>): number {
  if (body === null) return 0;
  return isParts(body) ? body.reduce((sum, { length }) => sum + length, 0) : Buffer.byteLength(body);
}

/** Whether a body consists of several parts. */
export function isParts(body: Reply['body']): body is readonly Uint8Array[] {
  return Array.isArray(body);
}

/** The body as parts to send after the head. Of a long one, no copy is held for each client that reads it slowly. */
export function separateBody(body: Reply['body']): readonly Uint8Array[] | undefined {
  if (isParts(body)) return body;
  return body instanceof Uint8Array && body.length > COPIED_BYTES_MAX ? [body] : undefined;
}

/** Whether the connection stays open. HTTP/1.1 keeps it by default, without a header. */
export function connectionLine(isLast: boolean, request: { isHttp10: boolean } | undefined): string {
  if (isLast) return 'Connection: close\r\n';
  return request?.isHttp10 ? 'Connection: keep-alive\r\n' : '';
}

/** The interim response that makes a client send its body. */
export const CONTINUE = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');

/** A copy of a raw response with more header lines after its status line. */
export function withLines(bytes: Uint8Array, lines: string): Uint8Array {
  const first = endOfFirstLine(bytes, 0);
  return Buffer.concat([bytes.subarray(0, first), Buffer.from(lines), bytes.subarray(first)]);
}

/** The index after the line end. */
export function endOfFirstLine(bytes: Uint8Array, start: number): number {
  return bytes.indexOf(LF, start) + 1;
}

/** Whether responses of this status can have a body. */
export function hasBody(status: number): boolean {
  return status !== 204 && status !== 304 && status >= 200;
}

let dateSecond = -1;
let date = '';

/** The value of a `Date` header, formatted once per second. */
export function dateText(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    date = new Date(second * 1000).toUTCString();
  }
  return date;
}

/** Prevents header injection: a value that came from a client must not start another header. */
export function oneLine(value: string): string {
  return /[^\t\x20-\x7e]/.test(value) ? value.replace(/[^\t\x20-\x7e]+/g, ' ') : value;
}

const LF = 10;
