import { expect, test } from 'bun:test';
import { findTestFiles, planAll, planQuick } from './plan.ts';

const PROGRAM = '/tmp/openpit';
const SETTINGS = { OPENPIT_TEST_DEMO: '/tmp/demo' };

test('every test file runs, and process tests against the single-file build', () => {
  const files = findTestFiles();
  expect(files).toContain('scripts/test/plan.test.ts');
  const jobs = planAll(files, {}, SETTINGS, PROGRAM);
  const planned = jobs.flatMap((job) => job.files);
  expect([...new Set(planned)].sort()).toEqual(files);
  const ofBuild = jobs.filter(({ settings }) => settings.OPENPIT_TEST_PROGRAM === PROGRAM);
  expect(ofBuild.flatMap((job) => job.files).sort()).toEqual(
    files.filter((file) => file.startsWith('test/process/')),
  );
});

test('a few process tests also run from source', () => {
  const planned = planAll(findTestFiles(), {}, SETTINGS, PROGRAM).flatMap((job) => job.files);
  expect(planned.filter((file, i) => planned.indexOf(file) !== i)).toContain(
    'test/process/starting/start.test.ts',
  );
});

test('the API and security suites also run on Bun.serve, except tests of content', () => {
  const onBunServe = planAll(findTestFiles(), {}, SETTINGS, PROGRAM).filter(
    (job) => job.settings.OPENPIT_HTTP === 'bun',
  );
  const planned = onBunServe.flatMap((job) => job.files);
  expect(planned).toContain('test/api/rates/latest.test.ts');
  expect(planned).toContain('test/security/injection.test.ts');
  expect(planned).not.toContain('test/api/history/history.test.ts');
});

test('a long file has a job of its own, short neighbours share one, and the longest job comes first', () => {
  const jobs = planAll(['src/1', 'src/2', 'src/3', 'src/4'], { 'src/3': 80 }, SETTINGS, PROGRAM);
  expect(jobs.map((job) => job.files)).toEqual([['src/3'], ['src/1', 'src/2'], ['src/4']]);
});

test('a file of which no time is known counts as slow where it starts the program', () => {
  const jobs = planAll(['src/1', 'test/process/1', 'test/process/2'], {}, SETTINGS, PROGRAM);
  expect(jobs.map((job) => job.files)).toEqual([['test/process/1'], ['test/process/2'], ['src/1']]);
});

test('what measures time has jobs of its own, which run alone', () => {
  const alone = planAll(findTestFiles(), {}, SETTINGS, PROGRAM).filter(({ isAlone }) => isAlone);
  expect(alone.flatMap((job) => job.files)).toEqual(['test/process/alone/spread.test.ts']);
});

test('the quick run leaves out what needs a process, a browser or PostgreSQL', () => {
  const planned = planQuick(findTestFiles(), {}).flatMap((job) => job.files);
  expect(planned).toContain('test/contract/meter.test.ts');
  expect(planned.filter((file) => /^test\/(process|browser)|failover/.test(file))).toEqual([]);
});
