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
  const board = { onChange() {} } as unknown as Board;
  const log = { debugs: false, debug() {}, info() {}, warn() {}, error() {} };
  const hub = new StreamHub({ board, gate, clock, log });
  const channel = hub.channel(new View(0, 0));
  const open = (key: string) =>
    hub.open(hub.reserve('acc'), {
      channel,
      topics: [],
      after: 0,
      account: { id: 'acc' },
      presented: { key, inUrl: false, address: () => '127.0.0.1' },
      meter: { spend: () => ({ ok: true, remaining: 1 }) },
      warnings: [],
      quotaRefusal: () => {
        throw new Error('there is no quota');
      },
    });
  return { hub, clock, checked, open };
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
