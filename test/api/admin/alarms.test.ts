import { expect, test } from 'bun:test';
import { processName } from '../../../src/runtime/process-name.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { OPERATOR_HEADERS, OPERATOR_SETTINGS } from '../../support/operator.ts';
import { openTestService } from '../../support/service.ts';

const headers = OPERATOR_HEADERS;
const settings = OPERATOR_SETTINGS;

onEachEngine('GET /admin/alarms', (engine) => {
  test('a healthy service has none, and it needs the admin token', async () => {
    const service = await openTestService(engine, { settings });
    expect((await service.get('/admin/alarms')).status).toBe(401);
    const answer = await service.get('/admin/alarms', undefined, { headers });
    expect(await answer.json()).toEqual({ success: true, complete: true, alarms: [] });
    await service.close();
  });

  test('it reports an unreachable ledger without using the ledger', async () => {
    const service = await openTestService(engine, { settings });
    await service.core.faults.ledger.check();
    await service.ledger.close();
    for (let second = 0; second < 4; second++) {
      service.clock.time += 1_000;
      await service.core.faults.ledger.check();
    }
    const answer = await service.get('/admin/alarms', undefined, { headers });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      complete: false,
      alarms: [{ name: 'ledger.unreachable', type: 'ledger.unreachable', processes: [processName()] }],
    });
    await service.close();
  });

  test('an alarm of another replica is listed from its heartbeat until it is silent, and alarms of the same name are merged', async () => {
    const service = await openTestService(engine, { settings });
    const { ledger } = service;
    const beat = { version: '1', phase: 'ready', revision: 1 };
    const late = { type: 'feed.late', feed: 'fred', failures: 3 };
    const failing = { type: 'feeds.failing', reason: 'no room', process: 'two/2' };
    const [one, two] = [Date.UTC(2024, 4, 15, 15), Date.UTC(2024, 4, 15, 14)];
    await ledger.replicas.beat({
      ...beat,
      id: 'one',
      name: 'one/1',
      alarms: [{ name: 'feed.late.fred', since: one, event: late }],
    });
    await ledger.replicas.beat({
      ...beat,
      id: 'two',
      name: 'two/2',
      alarms: [
        { name: 'feed.late.fred', since: two, event: late },
        { name: 'feeds.failing', event: failing },
      ],
    });
    const ask = async () => (await service.get('/admin/alarms', undefined, { headers })).json();
    expect(await ask()).toEqual({
      success: true,
      complete: true,
      alarms: [
        {
          name: 'feed.late.fred',
          type: 'feed.late',
          since: '2024-05-15T14:00:00.000Z',
          details: { feed: 'fred', failures: 3 },
          processes: ['one/1', 'two/2'],
        },
        {
          name: 'feeds.failing',
          type: 'feeds.failing',
          since: null,
          details: { reason: 'no room', process: 'two/2' },
          processes: ['two/2'],
        },
      ],
    });
    await ledger.engine.write(async (tx) => {
      await tx`UPDATE replica SET seen = seen - 16000`;
    });
    expect(await ask()).toMatchObject({ alarms: [] });
    await service.close();
  });
});
