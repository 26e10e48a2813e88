import { expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect } from 'node:net';
import { readConfig } from '../../../src/config.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { createLog } from '../../../src/runtime/log/log.ts';
import { startService } from '../../../src/service.ts';
import { newFolder } from '../../support/ledger.ts';
import { eventually } from '../../support/program.ts';

test('a service that is stopped while its demo writes the history does not become ready', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('debug', systemClock, (line) => lines.push(JSON.parse(line)));
  const config = readConfig(
    { OPENPIT_DATA_DIR: newFolder(), OPENPIT_HOST: '127.0.0.1', OPENPIT_PORT: '0' },
    {},
  );
  const service = await startService(config, systemClock, log);
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n'); // the stop waits for the rest of this request
  await once(socket, 'connect');
  await Bun.sleep(100);
  const stopping = service.stop();
  await eventually(async () => lines.some(({ done, total }) => done !== undefined && done === total), 30_000);
  await Bun.sleep(1_000); // a service that is not being stopped is ready 0.2 s after its history is written
  const response = once(socket, 'data');
  socket.write('\r\n');
  expect(String((await response)[0])).toContain('"status":"draining"');
  await stopping;
  expect(lines.map(({ event }) => event)).not.toContain('ready');
}, 60_000);
