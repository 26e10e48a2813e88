import { expect, test } from 'bun:test';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { childrenOf } from '../../../test/support/child-processes.ts';
import { newFolder } from '../../../test/support/ledger.ts';
import { eventually } from '../../../test/support/program.ts';
import { createLog } from '../../runtime/log/log.ts';
import { Supervisor } from './supervisor.ts';

/** Says that it is ready, with its process id, and runs until it is stopped. */
const CHILD = `process.on('message', () => process.send({ kind: 'ready', url: String(process.pid) }))`;

test('a process that cannot be started again, as while the program is replaced, is started once it can be', async () => {
  const folder = newFolder();
  const [program, script] = [join(folder, 'program'), join(folder, 'child.js')];
  symlinkSync(process.execPath, program);
  writeFileSync(script, CHILD);
  const lines: { event: string }[] = [];
  const log = createLog('info', { now: () => 0 }, (line) => lines.push(JSON.parse(line)));
  const supervisor = new Supervisor([program, script], 0, log);
  const { url: pid } = await supervisor.start(1);
  const count = (event: string) => lines.filter((line) => line.event === event).length;
  rmSync(program);
  process.kill(Number(pid), 'SIGKILL');
  await eventually(async () => count('a process could not be started, will be retried') > 1);
  symlinkSync(process.execPath, program);
  await eventually(async () => childrenOf(process.pid).length === 1);
  await supervisor.stop();
  expect(count('a process exited and will be restarted')).toBe(1);
}, 60_000);
