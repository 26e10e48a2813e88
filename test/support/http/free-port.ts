/** Below the range that Linux gives to outgoing connections (32768 and up), so that none of them takes the port. */
const FIRST_PORT = 10_000;
const LAST_PORT = 32_000;
const ATTEMPTS_MAX = 100;

/** A port of 127.0.0.1 that nobody listens on. It is random, so that test files running in parallel choose different ones. */
export function freePort(): number {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT));
    if (isFree(port)) return port;
  }
  throw new Error('found no free port');
}

function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop();
    return true;
  } catch {
    return false;
  }
}
