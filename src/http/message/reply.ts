import type { PooledBuffer } from './buffer-pool.ts';

/** Receives the duration of a request, from the arrival of its first byte until its response was handed to the system. */
export interface RequestTimer {
  add(ms: number): void;
}

/** An answer before it is written to the wire. */
export interface Reply {
  readonly status: number;
  /** Without `Date`, `Content-Length` and `Transfer-Encoding`: those are the server's. */
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is sent as it comes. */
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | null;
  /** Hears how long the request took. */
  readonly timer?: RequestTimer;
  /** Whether the client has proved who it is, so that its head is worth caching. */
  readonly isAuthenticated?: boolean;
  /** How many bytes a stream has, where that is known. */
  readonly length?: number | undefined;
  /** Whether a stream goes on until the client hangs up. Any other is sent to its end, also to a client that sends no more. */
  readonly isEndless?: boolean;
}

/** A response as it goes over the wire, head included. */
export interface RawReply {
  readonly status: number;
  /** A pooled buffer is taken by the server, so it can be sent once. Other bytes must never change. */
  readonly bytes: PooledBuffer | Uint8Array;
  /** Hears how long the request took. */
  timer?: RequestTimer | undefined;
  /** Whether the client has proved who it is, so that its head is worth caching. */
  readonly isAuthenticated?: boolean;
}

export function reply(
  body: Reply['body'],
  headers: Readonly<Record<string, string>>,
  status: number = 200,
  length?: number,
): Reply {
  return { status, headers, body, length };
}

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  204: 'No Content',
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
  417: 'Expectation Failed',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
  505: 'HTTP Version Not Supported',
  507: 'Insufficient Storage',
};

/** The status line and the date, each with its line end. */
export function firstLines(status: number, nowMs: number): string {
  return `HTTP/1.1 ${status} ${REASONS[status] ?? ''}\r\nDate: ${dateText(nowMs)}\r\n`;
}

/** Headers, each with its line end. The empty line that ends a head is not among them. */
export function headerLines(headers: Readonly<Record<string, string>>): string {
  let text = '';
  for (const name in headers) text += `${name}: ${inOneLine(headers[name]!)}\r\n`;
  return text;
}

/** An answer to the request of this head as it is sent; of a stream, what comes before it. `line` is one more header. */
export function replyBytes(
  { status, headers, body, length }: Reply,
  request: { method: string; isHttp10: boolean } | undefined,
  line: string,
  nowMs: number,
): Buffer {
  const framing = hasBody(status) ? framingLine(body, length, request) : '';
  const head = `${firstLines(status, nowMs)}${headerLines(headers)}${line}${framing}\r\n`;
  const isHeadOnly = body === null || !hasBody(status) || request?.method === 'HEAD';
  if (isHeadOnly || body instanceof ReadableStream) return Buffer.from(head);
  return typeof body === 'string' ? Buffer.from(head + body) : Buffer.concat([Buffer.from(head), body]);
}

/**
 * How the client finds the end of a body. HTTP/1.0 knows no chunks: there, a stream of unknown length ends with the
 * connection. HEAD is told no length that is not known.
 */
function framingLine(
  body: Reply['body'],
  length: number | undefined,
  request: { method: string; isHttp10: boolean } | undefined,
): string {
  if (!(body instanceof ReadableStream)) {
    return `Content-Length: ${body === null ? 0 : Buffer.byteLength(body)}\r\n`;
  }
  if (length !== undefined) return `Content-Length: ${length}\r\n`;
  return request?.isHttp10 || request?.method === 'HEAD' ? '' : 'Transfer-Encoding: chunked\r\n';
}

/** What the client must know of the connection; that HTTP/1.1 keeps it needs no word. */
export function connectionLine(isLast: boolean, request: { isHttp10: boolean } | undefined): string {
  if (isLast) return 'Connection: close\r\n';
  return request?.isHttp10 ? 'Connection: keep-alive\r\n' : '';
}

/** Before the answer: a client that holds its body back may send it. */
export const CONTINUE = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');

/** The same answer with one more line after its first. */
export function withLine(bytes: Uint8Array, line: string): Uint8Array {
  const first = bytes.indexOf(LF) + 1;
  return Buffer.concat([bytes.subarray(0, first), Buffer.from(line), bytes.subarray(first)]);
}

/** Whether answers of this status have a body at all. */
export function hasBody(status: number): boolean {
  return status !== 204 && status !== 304 && status >= 200;
}

let dateSecond = -1;
let date = '';

/** Written once a second, not once an answer. */
function dateText(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    date = new Date(second * 1000).toUTCString();
  }
  return date;
}

/** Nothing that came from a caller may start a header of its own. */
function inOneLine(value: string): string {
  return /[^\t\x20-\x7e]/.test(value) ? value.replace(/[^\t\x20-\x7e]+/g, ' ') : value;
}

const LF = 10;
