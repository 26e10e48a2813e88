import { BODY_BYTES_MAX, SECONDS_MAX } from './connection/limits.ts';
import { REAL_TIME, untilQuiet } from './drain.ts';
import { BodyFault, fault, handlerFault } from './message/fault.ts';
import type { IncomingRequest } from './message/incoming-request.ts';
import type { RawReply, Reply } from './message/reply.ts';
import { dateText } from './message/serialize.ts';
import { webResponse } from './message/web-response.ts';
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
    const response = webResponse(answer, request.method, onError);
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
  return { method, url: url.replace(ORIGIN, ''), headers, bytes: () => bodyBytes(request) };
}

async function bodyBytes({ headers, body }: Request): Promise<Uint8Array> {
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
  return Buffer.concat(chunks);
}
