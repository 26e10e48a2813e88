import { connect } from 'node:net';

export interface RawDownload {
  head: string;
  /** Without the chunk framing. */
  body: Buffer<ArrayBuffer>;
  /** Whether the framing says that it is complete: the last chunk, or all bytes of the length. */
  isComplete: boolean;
  wasReset: boolean;
}

export interface RawRequestOptions {
  version?: '1.0' | '1.1';
  headers?: string;
  /** Whether the client shuts down its sending side after the request. */
  halfClose?: boolean;
  /** Called with each chunk that arrives. */
  onData?: (socket: ReturnType<typeof connect>) => void;
}

/** Sends one GET over a new socket, and returns what it received until the server closed it. */
export async function rawRequest(
  url: string,
  path: string,
  { version = '1.1', headers = '', halfClose = false, onData }: RawRequestOptions = {},
): Promise<RawDownload> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const pieces: Buffer[] = [];
  let wasReset = false;
  const done = Promise.withResolvers<void>();
  socket.on('data', (bytes: Buffer) => {
    pieces.push(bytes);
    onData?.(socket);
  });
  socket.on('error', () => {
    wasReset = true;
  });
  socket.on('end', () => socket.end());
  socket.on('close', () => done.resolve());
  const request = `GET ${path} HTTP/${version}\r\nHost: test\r\nConnection: close\r\n${headers}\r\n`;
  if (halfClose) socket.end(request);
  else socket.write(request);
  await done.promise;
  return { ...parse(Buffer.concat(pieces)), wasReset };
}

function parse(all: Buffer<ArrayBuffer>): Omit<RawDownload, 'wasReset'> {
  const end = all.indexOf('\r\n\r\n');
  const head = all.subarray(0, end).toString('latin1');
  const rest = all.subarray(end + 4);
  if (/^transfer-encoding: chunked$/im.test(head)) return { head, ...unchunk(rest) };
  const length = /^content-length: (\d+)$/im.exec(head)?.[1];
  return { head, body: rest, isComplete: length !== undefined && rest.length === Number(length) };
}

function unchunk(bytes: Buffer): { body: Buffer<ArrayBuffer>; isComplete: boolean } {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return { body: Buffer.concat(parts), isComplete: false };
    const length = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (length === 0) return { body: Buffer.concat(parts), isComplete: true };
    const start = lineEnd + 2;
    parts.push(bytes.subarray(start, start + length));
    at = start + length + 2;
    if (at > bytes.length) return { body: Buffer.concat(parts), isComplete: false };
  }
}
