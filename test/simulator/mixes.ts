import type { NetworkFaults } from './network.ts';

/** The faults of a run, as rates per second of its waves unless stated otherwise. */
export interface Mix {
  name: string;
  /** When requests and faults come, in minutes from the start; each wave takes 12 seconds. */
  wavesAtMinutes: readonly number[];
  network: NetworkFaults;
  kill: number;
  /** Longest time until a killed process restarts. */
  restartMsMax: number;
  /** The ledger is unreachable for a while. */
  outage: number;
  /** A process is frozen, or its machine suspended. */
  freeze: number;
  freezeMsMax: number;
  /** A machine is lost with its disk. */
  loseHost: number;
  /** The ledger's clock jumps ahead. */
  ledgerJump: number;
  ledgerJumpMs: number;
  changePlan: number;
  /** The run starts shortly before the end of a month. */
  overMonthEnd: boolean;
  /** The first process is alone at first, under load; the others start within this time. */
  joinMsMax: number;
}

const reliable: NetworkFaults = { lostRequest: 0, lostReply: 0, slow: 0 };
const bad: NetworkFaults = { lostRequest: 0.04, lostReply: 0.06, slow: 0.03 };

const calm: Mix = {
  name: 'calm',
  wavesAtMinutes: [0],
  network: reliable,
  kill: 0,
  restartMsMax: 3_000,
  outage: 0,
  freeze: 0,
  freezeMsMax: 0,
  loseHost: 0,
  ledgerJump: 0,
  ledgerJumpMs: 1_000_000, // more than the hold
  changePlan: 0,
  overMonthEnd: false,
  joinMsMax: 0,
};

export const MIXES: readonly Mix[] = [
  calm,
  { ...calm, name: 'processes that join a sole holder', joinMsMax: 10_000 },
  { ...calm, name: 'kills', kill: 0.3 },
  { ...calm, name: 'bad network', network: bad },
  // Units move back and forth while messages overtake each other.
  { ...calm, name: 'slow network', network: { ...reliable, slow: 0.3 }, wavesAtMinutes: [0, 0.3, 0.6] },
  { ...calm, name: 'crash loops on a bad network', network: bad, kill: 2, restartMsMax: 500 },
  // The last messages of a killed process arrive after the next one has adopted its leases.
  {
    ...calm,
    name: 'restarts on a slow network',
    network: { lostRequest: 0, lostReply: 0.05, slow: 0.3 },
    kill: 1,
    restartMsMax: 300,
    wavesAtMinutes: [0, 0.3, 0.6],
  },
  { ...calm, name: 'slow restarts', kill: 0.2, restartMsMax: 600_000, wavesAtMinutes: [0, 3, 6] },
  { ...calm, name: 'outages', outage: 0.1, kill: 0.1 },
  { ...calm, name: 'pauses', freeze: 0.3, freezeMsMax: 90_000, kill: 0.05, wavesAtMinutes: [0, 1, 2] },
  {
    ...calm,
    name: 'pauses beyond the hold',
    freeze: 0.2,
    freezeMsMax: 1_500_000,
    wavesAtMinutes: [0, 18, 24],
  },
  {
    ...calm,
    name: 'month end',
    overMonthEnd: true,
    kill: 0.2,
    network: bad,
    freeze: 0.1,
    freezeMsMax: 5_000,
  },
  { ...calm, name: 'lost hosts', loseHost: 0.1, kill: 0.1, network: bad, wavesAtMinutes: [0, 18] },
  // The wave is around the first sweep, which then releases leases that are still being spent.
  {
    ...calm,
    name: 'a ledger whose clock jumps',
    ledgerJump: 0.4,
    wavesAtMinutes: [0.9],
    network: { ...reliable, slow: 0.1 },
  },
  // Leases are folded, and processes that were down report folded usage again.
  {
    ...calm,
    name: 'months that pass',
    ledgerJump: 0.1,
    ledgerJumpMs: 65 * 86_400_000,
    kill: 0.5,
    restartMsMax: 120_000,
    network: { ...bad, lostReply: 0.6 },
    wavesAtMinutes: [0, 0.9, 2, 4],
  },
  {
    ...calm,
    name: 'everything',
    wavesAtMinutes: [0, 1, 18],
    network: bad,
    kill: 0.1,
    restartMsMax: 60_000,
    outage: 0.05,
    freeze: 0.1,
    freezeMsMax: 1_200_000,
    loseHost: 0.02,
    ledgerJump: 0.02,
    ledgerJumpMs: 1_000_000,
    changePlan: 0.1,
    overMonthEnd: true,
  },
];
