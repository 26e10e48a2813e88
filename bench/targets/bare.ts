/** The floor: a handler that sends a constant body with constant headers, and ignores the request. */
const { body, headers } = JSON.parse(process.argv[2]!) as { body: string; headers: Record<string, string> };
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: () => new Response(body, { headers }),
});
console.log(`listens on ${server.url}`);

export {};
