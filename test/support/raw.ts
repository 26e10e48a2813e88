/** Sends bytes as they are, over a socket of their own, and gives all that came back until the server closed it. */
export function sendRaw(url: string, request: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const done = Promise.withResolvers<string>();
  const decoder = new TextDecoder();
  let received = '';
  Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: (socket) => void socket.write(request),
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
