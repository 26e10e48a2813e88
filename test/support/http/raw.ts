/** The pause between two pieces, long enough that they arrive separately. */
const GAP_MS = 5;

/**
 * Sends raw bytes over a new socket, in the given pieces, and returns everything received until the server closed it. A
 * reset after a response counts as a close: bytes behind a refused request cause it.
 */
export function sendRaw(url: string, ...pieces: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(url);
  const done = Promise.withResolvers<string>();
  const decoder = new TextDecoder();
  let received = '';
  let rest: Uint8Array = new Uint8Array();
  const write = (socket: Bun.Socket) => {
    rest = rest.subarray(Math.max(0, socket.write(rest)));
  };
  Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      async open(socket) {
        for (const [i, piece] of pieces.entries()) {
          if (i > 0) await Bun.sleep(GAP_MS);
          rest = Buffer.concat([rest, Buffer.from(piece)]);
          write(socket);
        }
      },
      drain: write,
      data: (_, bytes) => {
        received += decoder.decode(bytes, { stream: true });
      },
      close: () => done.resolve(received),
      error: (_, error) => done.reject(error),
    },
  }).catch(done.reject);
  return done.promise;
}

/** A GET of a target that client libraries would normalize. */
export function getRaw(url: string, target: string, headers = ''): Promise<string> {
  return sendRaw(url, `GET ${target} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n${headers}\r\n`);
}
