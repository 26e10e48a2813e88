import { expect, setDefaultTimeout, test } from 'bun:test';
import { availableParallelism, totalmem } from 'node:os';
import { readConfig } from '../../../src/config.ts';
import { checkLimits } from '../../../src/doctor/checks/limits.ts';
import { newFolder } from '../../support/ledger.ts';
import { Doctor } from '../../support/monitoring/doctor.ts';
import { eventually, openpit, Program } from '../../support/program.ts';

setDefaultTimeout(180_000);

test('more memory for caches and history than the machine has is a problem, most of it a warning', async () => {
  const totalMb = Math.floor(totalmem() / 1024 ** 2);
  const status = async (historyMb: number) => {
    const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_HISTORY_MB: String(historyMb) };
    return (await Doctor.run(settings)).of('limits.memory')[0]!.split(':')[0];
  };
  expect(await status(totalMb + 1)).toBe('problem');
  expect(await status(Math.floor(totalMb * 0.8))).toMatch(/warning|problem/); // a container may have less
  expect(await status(1)).toBe('ok');
});

test('the memory of all running processes of the machine counts, as of several replicas', () => {
  const config = readConfig({ OPENPIT_CACHE_MB: '32', OPENPIT_HISTORY_MB: '68', OPENPIT_PROCESSES: '2' }, {});
  const memory = (pids: readonly number[]) =>
    checkLimits(config, pids).find(({ check }) => check === 'limits.memory')!.message;
  expect(memory([])).toMatch(/^2 × .* = up to 600 MB/);
  expect(memory([1, 2, 3])).toMatch(/^3 × .* = up to 900 MB/);
});

test('more processes than cores are a warning', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_CACHE_MB: '32', OPENPIT_HISTORY_MB: '1' };
  const processes = String(availableParallelism() + 1);
  const doctor = await Doctor.run({ ...settings, OPENPIT_PROCESSES: processes });
  expect(doctor.of('limits.processes')[0]).toMatch(/^warning: OPENPIT_PROCESSES is/);
  expect((await Doctor.run(settings)).of('limits.processes')[0]).toMatch(/^ok/);
});

test.skipIf(process.platform !== 'linux')('few open files are a problem', async () => {
  const limited = async (limit: number) => {
    const run: typeof openpit = (args, settings) =>
      openpit(args, settings, undefined, ['prlimit', `--nofile=${limit}`]);
    return (await Doctor.run({ OPENPIT_DATA_DIR: newFolder() }, run)).of('limits.open_files')[0];
  };
  expect(await limited(256)).toMatch(/^problem: a process may open 256 files/);
  expect(await limited(2_048)).toMatch(/^warning/);
  expect(await limited(16_384)).toMatch(/^ok/);
});

test.skipIf(process.platform !== 'linux')(
  'the limit of a running service counts, not that of the shell',
  async () => {
    const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false' };
    const program = await Program.start(settings);
    try {
      Bun.spawnSync(['prlimit', '--pid', String(program.pid), '--nofile=1000']);
      await eventually(async () => {
        const doctor = await Doctor.run(settings);
        return doctor.of('limits.open_files')[0]!.startsWith('problem: a process may open 1000 files');
      });
    } finally {
      await program.end('SIGKILL');
    }
  },
);
