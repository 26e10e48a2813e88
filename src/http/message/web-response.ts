import { PooledBuffer } from './buffer-pool.ts';
import type { RawReply, Reply } from './reply.ts';
import { hasBody, isParts, oneLine } from './serialize.ts';

/** Converts a response to the standard `Response`. Calls `onError` if its stream fails. */
export function webResponse(
  answer: RawReply | Reply,
  method: string,
  onError: (error: unknown) => void,
): Response {
  return 'bytes' in answer ? rawResponse(answer, method) : replyResponse(answer, method, onError);
}

/** Parses a response that is ready for the wire. `Bun.serve` writes the length itself. */
function rawResponse({ status, bytes }: RawReply, method: string): Response {
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

function replyResponse(reply: Reply, method: string, onError: (error: unknown) => void): Response {
  const { status, body, length } = reply;
  const headers = new Headers();
  for (const [name, value] of Object.entries(reply.headers)) headers.set(name, oneLine(value));
  if (!(body instanceof ReadableStream)) {
    // Bytes, because Bun would add a media type to a string.
    const bytes =
      typeof body === 'string' ? new TextEncoder().encode(body) : isParts(body) ? Buffer.concat(body) : body;
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

/** The body of a HEAD response that must not reveal a length: for an empty body, Bun would send `Content-Length: 0`. */
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
