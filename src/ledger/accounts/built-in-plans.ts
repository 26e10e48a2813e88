import { type Plan, QUOTA_MAX } from './plans.ts';

/** The plans of a new ledger. */
export const BUILT_IN_PLANS: readonly Plan[] = [
  {
    name: 'free',
    quota: 1_000,
    delaySeconds: 3_600,
    maxSymbols: 5,
    maxSpanDays: null,
    burstPerSecond: 5,
    history: true,
  },
  {
    name: 'basic',
    quota: 10_000,
    delaySeconds: 600,
    maxSymbols: 20,
    maxSpanDays: null,
    burstPerSecond: 20,
    history: true,
  },
  {
    name: 'pro',
    quota: 100_000,
    delaySeconds: 60,
    maxSymbols: 100,
    maxSpanDays: null,
    burstPerSecond: 50,
    history: true,
  },
  {
    name: 'demo',
    quota: 100_000,
    delaySeconds: 0,
    maxSymbols: 50,
    maxSpanDays: null,
    burstPerSecond: 50,
    history: true,
  },
  {
    name: 'unlimited',
    quota: QUOTA_MAX,
    delaySeconds: 0,
    maxSymbols: 1_000,
    maxSpanDays: null,
    burstPerSecond: 1_000_000,
    history: true,
  },
];
