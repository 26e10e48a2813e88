/** Between two pieces: long enough that they arrive one by one. */
const GAP_MS = 5;

/**
 * Sends bytes as they are, over a socket of their own, in as many pieces as are given, and gives all that came back until
 * the server closed it. A reset after an answer counts as a close: what was sent behind a refused request causes it.
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

/** A GET of a target that no client library would send as it is. */
export function getRaw(url: string, target: string, headers = ''): Promise<string> {
  return sendRaw(url, `GET ${target} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n${headers}\r\n`);
}
