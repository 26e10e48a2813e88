/** Whether the tests run on `Bun.serve` (OPENPIT_HTTP=bun). src/http/README.md lists what differs there. */
export const onBunServe = process.env.OPENPIT_HTTP === 'bun';
