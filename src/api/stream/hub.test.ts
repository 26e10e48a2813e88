import { expect, test } from 'bun:test';
import type { Board } from '../../board/board.ts';
import { View } from '../../board/views/view.ts';
import type { PresentedKey } from '../../gate/gate.ts';
import { StreamHub } from './hub.ts';

/** A hub whose gate never answers about the key "hung", as when the ledger does not. */
function openHub() {
  const checked: string[] = [];
  const clock = { time: 0, now: () => clock.time };
  const gate = {
    recheck: ({ key }: PresentedKey) => {
      checked.push(key);
      if (key === 'hung') return new Promise<never>(() => {});
      return Promise.resolve({ ok: false, code: 'invalid_key' } as const);
    },
  };
  const outage = { left: 2, warnings: 0, ended: Promise.withResolvers<void>(), notify: () => {} };
  const board = {
    onChange: (listener: () => void) => {
      outage.notify = listener;
    },
    prepare() {
      if (outage.left-- > 0) return Promise.reject(new Error('its ledger cannot be reached'));
      outage.ended.resolve();
      return undefined;
    },
  } as unknown as Board;
  const log = { debugs: false, debug() {}, info() {}, warn: () => void outage.warnings++, error() {} };
  const hub = new StreamHub({ board, gate, clock, log });
  const channel = hub.channel(new View(0, 0));
  const open = (key: string) =>
    hub.open(hub.reserve('acc'), {
      channel,
      topics: [],
      after: 0,
      presented: { key, inUrl: false, address: () => '127.0.0.1' },
      pay: () => ({ ok: true, remaining: 1 }),
      warnings: [],
      quotaRefusal: () => {
        throw new Error('there is no quota');
      },
    });
  return { hub, clock, checked, open, outage };
}

test('while the ledger does not answer about the key of one stream, the others have heartbeats and are checked', async () => {
  const { hub, clock, checked, open } = openHub();
  const hung = open('hung').getReader();
  const wrong = open('wrong').getReader();
  const read = async (reader: typeof hung) => new TextDecoder().decode((await reader.read()).value);
  for (const reader of [hung, wrong]) expect(await read(reader)).toContain('retry:');
  clock.time = 5_000;
  expect(await read(hung)).toContain('still here');
  expect(await read(wrong)).toContain('still here');
  expect(await read(wrong)).toContain('event: end');
  await hung.cancel();
  expect(hub.size).toBe(0);
  expect(checked).toEqual(['hung', 'wrong']);
});

test('a change that cannot be published because the ledger fails is published later, and the failure is logged once', async () => {
  const { open, outage } = openHub();
  const body = open('hung');
  outage.notify();
  await outage.ended.promise;
  expect(outage.warnings).toBe(1);
  await body.cancel();
});
