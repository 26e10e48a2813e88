import { expect, test } from 'bun:test';
import { LocalRates } from '../../../src/api/local/local-rates.ts';
import { apiOn } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

onEachEngine('requests to the ledger on this machine', (engine) => {
  const api = apiOn(engine, {}, ({ service }) => service.tick('XAU', 2350));

  test('for intraday prices are answered once the ledger can be read again', async () => {
    const { ledger, clock } = api.service;
    const local = await LocalRates.open(ledger, { clock, historyBytesMax: 1e6, simulated: false });
    const ask = () =>
      local.ask('/rates/history', {
        symbols: 'XAU',
        startDate: '2024-05-15',
        endDate: '2024-05-15',
        interval: 'hour',
      });
    const { newestPrices } = ledger;
    ledger.newestPrices = () => Promise.reject(new Error('the ledger is busy'));
    await expect(ask()).rejects.toThrow('the ledger is busy');
    ledger.newestPrices = newestPrices;
    expect(await ask()).toMatchObject({ rates: [{ close: 2350 }] });
  });
});
