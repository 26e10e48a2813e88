import { BODY_BYTES_MAX, SECONDS_MAX } from './connection/limits.ts';
import { REAL_TIME, untilQuiet } from './drain.ts';
import { PooledBuffer } from './message/buffer-pool.ts';
import { BodyFault, fault, handlerFault } from './message/fault.ts';
import type { IncomingRequest } from './message/incoming-request.ts';
import type { RawReply, Reply } from './message/reply.ts';
import { dateText, hasBody, oneLine } from './message/serialize.ts';
import { isHost } from './parse/fields.ts';
import { HSTS_HEADERS, type HttpServer, type ServerOptions } from './server-options.ts';
import { listenerTls } from './tls/secure-context.ts';

/** Bun itself rejects a longer body, without calling the handler. Between the two limits the handler words the error. */
const BUN_BODY_BYTES_MAX = 2 * BODY_BYTES_MAX;

/** The same interface as `serve`, on `Bun.serve`. README.md lists what differs. */
export function serveWithBun(options: ServerOptions): HttpServer {
  const { hostname, port, isShared, clock, handle, refuse, onError, tls, time = REAL_TIME } = options;
  const state = { requests: 0, isClosing: false };

  async function respond(request: Request, server: Bun.Server<undefined>): Promise<Response> {
    const arrivedAt = performance.now();
    state.requests++;
    server.timeout(request, 0); // a handler may take as long as it needs
    const peer = () => (request.signal.aborted ? '' : (server.requestIP(request)?.address ?? ''));
    const answer = await answerOf(request, peer);
    answer.timer?.add(performance.now() - arrivedAt);
    const isEndless = 'body' in answer && answer.isEndless;
    if (!isEndless) server.timeout(request, SECONDS_MAX.idle);
    const response =
      'bytes' in answer ? rawResponse(answer, request) : replyResponse(answer, request, onError);
    const { headers } = response;
    if (!headers.has('Date')) headers.set('Date', dateText(clock.now()));
    if (state.isClosing) headers.set('Connection', 'close');
    if (tls) for (const [name, value] of Object.entries(HSTS_HEADERS)) headers.set(name, value);
    return response;
  }

  async function answerOf(request: Request, peer: () => string): Promise<RawReply | Reply> {
    try {
      if (!isHost(request.headers.get('host') ?? ''))
        return refuse(fault(400, 'the header "Host" is invalid'));
      return await handle(incoming(request), peer);
    } catch (error) {
      return refuse(handlerFault(error));
    }
  }

  const server = Bun.serve({
    hostname,
    port,
    reusePort: isShared,
    development: false,
    idleTimeout: SECONDS_MAX.idle,
    maxRequestBodySize: BUN_BODY_BYTES_MAX,
    ...(tls && { tls: listenerTls(tls) }),
    fetch: respond,
    error(error) {
      onError(error);
      return new Response(null, { status: 500 });
    },
  });

  return {
    port: server.port!,
    setCredentials() {
      throw new Error(
        'OPENPIT_HTTP=bun cannot replace a certificate while it runs; restart to use the renewed one',
      );
    },
    async stop(limitMs) {
      state.isClosing = true;
      const start = time.now();
      await untilQuiet(state, limitMs / 2, time);
      await Promise.race([server.stop(), time.sleep(Math.max(0, limitMs - (time.now() - start)))]);
      await server.stop(true);
    },
  };
}

/** Bun makes the URL absolute by the `Host` header, if there is one. */
const ORIGIN = /^https?:\/\/[^/]*/;

function incoming(request: Request): IncomingRequest {
  const { method, headers, url } = request;
  return { method, url: url.replace(ORIGIN, ''), headers, text: () => bodyText(request) };
}

async function bodyText({ headers, body }: Request): Promise<string> {
  const tooLong = new BodyFault(fault(413, `the body is longer than ${BODY_BYTES_MAX} bytes`));
  if (Number(headers.get('content-length')) > BODY_BYTES_MAX) throw tooLong;
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body ?? []) {
      length += chunk.length;
      if (length <= BODY_BYTES_MAX) chunks.push(chunk);
    }
  } catch {
    throw new BodyFault(fault(400, 'the body ends too soon'));
  }
  if (length > BODY_BYTES_MAX) throw tooLong;
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/** Parses a response that is ready for the wire. `Bun.serve` writes the length itself. */
function rawResponse({ status, bytes }: RawReply, { method }: Request): Response {
  const isPooled = bytes instanceof PooledBuffer;
  const wire = isPooled ? bytes.take() : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const headEnd = wire.indexOf('\r\n\r\n');
  const lines = wire.toString('latin1', 0, headEnd).split('\r\n').slice(1);
  const body = new Uint8Array(wire.subarray(headEnd + 4)); // a copy: the pooled memory is reused
  if (isPooled) bytes.release();
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    if (name !== 'Content-Length') headers.append(name, line.slice(colon + 2));
  }
  if (!hasBody(status)) return new Response(null, { status, headers });
  return new Response(method === 'HEAD' ? withoutLength() : body, { status, headers });
}

function replyResponse(reply: Reply, { method }: Request, onError: (error: unknown) => void): Response {
  const { status, body, length } = reply;
  const headers = new Headers();
  for (const [name, value] of Object.entries(reply.headers)) headers.set(name, oneLine(value));
  if (!(body instanceof ReadableStream)) {
    // Of a text, Bun would guess the media type.
    const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
    return new Response(hasBody(status) ? (bytes as Uint8Array<ArrayBuffer> | null) : null, {
      status,
      headers,
    });
  }
  if (hasBody(status) && method !== 'HEAD') return new Response(reported(body, onError), { status, headers });
  void body.cancel().catch(onError);
  if (length !== undefined) headers.set('Content-Length', String(length));
  const isEmpty = !hasBody(status) || length !== undefined;
  return new Response(isEmpty ? null : withoutLength(), { status, headers });
}

/** For a HEAD whose length must not be known: of an empty body, Bun would tell the length 0. Bun cancels it. */
function withoutLength(): ReadableStream {
  return new ReadableStream();
}

/** The same stream, whose failure is reported: Bun only closes the connection. */
function reported(
  stream: ReadableStream<Uint8Array>,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        onError(error);
        controller.error(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
