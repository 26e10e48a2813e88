/** The scales of the abuse rows. */
export const ABUSE_SCALES = {
  'slow-clients': {
    ci: { connections: 400, measureMs: 1_000 },
    full: { connections: 8_000, measureMs: 5_000 },
  },
  'idle-connections': {
    ci: { connections: 1_500, descriptors: 1_000 },
    full: { connections: 22_000, descriptors: 20_000 },
  },
  'giant-inputs': {
    ci: { rounds: 3, sizeKb: 64, endlessMb: 20, growthMbMax: 64 },
    full: { rounds: 1_000, sizeKb: 1_024, endlessMb: 1_000, growthMbMax: 64 },
  },
  pipelining: {
    ci: { connections: 2, requests: 1_000 },
    full: { connections: 50, requests: 1_000 },
  },
  smuggling: {
    ci: { cuts: 4, atATime: 16 },
    full: { cuts: 1_000, atATime: 32 },
  },
  'made-requests': {
    ci: { requests: 3_000, atATime: 8, seed: 1, operationsMissed: 14 },
    // random ticks are seldom held back, and only /market issues a visit
    full: { requests: 100_000, atATime: 16, seed: 1, operationsMissed: 6 },
  },
  'broken-downloads': {
    ci: { symbols: 2, days: 14_600, rounds: 24, atOnce: 6, growthMbMax: 64 },
    full: { symbols: 5, days: 14_600, rounds: 300, atOnce: 10, growthMbMax: 64 },
  },
  'past-reads': {
    ci: { days: 200, rounds: 1, atOnce: 20 },
    full: { days: 10_000, rounds: 10, atOnce: 20 },
  },
  'fuzzed-feeds': {
    ci: { bodies: 500, growthMbMax: 200 },
    full: { bodies: 100_000, growthMbMax: 100 },
  },
} as const;
