import type { NetworkFaults } from './network.ts';

/** What goes wrong in a run, as chances per second of the world's time unless it says otherwise. */
export interface Mix {
  name: string;
  network: NetworkFaults;
  kill: number;
  /** The ledger is out of reach for a while. */
  outage: number;
  /** A process stands still, or its machine sleeps. */
  freeze: number;
  freezeMsMax: number;
  /** A machine is gone with its disk. */
  loseHost: number;
  changePlan: number;
  /** The run begins shortly before the end of a month. */
  overMonthEnd: boolean;
  /** Time passes at the end until the hold of lost hosts is over. */
  waitForHold: boolean;
}

const sound: NetworkFaults = { lostRequest: 0, lostReply: 0, slow: 0 };
const bad: NetworkFaults = { lostRequest: 0.04, lostReply: 0.06, slow: 0.03 };

const calm: Mix = {
  name: 'calm',
  network: sound,
  kill: 0,
  outage: 0,
  freeze: 0,
  freezeMsMax: 0,
  loseHost: 0,
  changePlan: 0,
  overMonthEnd: false,
  waitForHold: false,
};

export const MIXES: readonly Mix[] = [
  calm,
  { ...calm, name: 'kills', kill: 0.3 },
  { ...calm, name: 'bad network', network: bad },
  { ...calm, name: 'kills on a bad network', network: bad, kill: 0.3 },
  { ...calm, name: 'outages', outage: 0.1, kill: 0.1 },
  { ...calm, name: 'pauses', freeze: 0.3, freezeMsMax: 90_000, kill: 0.05 },
  { ...calm, name: 'pauses longer than the hold', freeze: 0.15, freezeMsMax: 1_500_000, waitForHold: true },
  {
    ...calm,
    name: 'month end',
    overMonthEnd: true,
    kill: 0.2,
    network: bad,
    freeze: 0.1,
    freezeMsMax: 5_000,
  },
  { ...calm, name: 'lost hosts', loseHost: 0.1, kill: 0.1, network: bad, waitForHold: true },
  {
    name: 'everything',
    network: bad,
    kill: 0.2,
    outage: 0.05,
    freeze: 0.1,
    freezeMsMax: 1_500_000,
    loseHost: 0.02,
    changePlan: 0.1,
    overMonthEnd: true,
    waitForHold: true,
  },
];
