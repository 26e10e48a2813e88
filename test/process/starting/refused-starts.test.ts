import { expect, test } from 'bun:test';
import { newFolder } from '../../support/ledger.ts';
import { openpit } from '../../support/program.ts';

test.each([
  ['OPENPIT_PORT', 'http'],
  ['OPENPIT_DATABASE_URL', 'mysql://127.0.0.1/x'],
  ['OPENPIT_DEMO', 'maybe'],
  ['OPENPIT_LOG_LEVEL', 'loud'],
  ['OPENPIT_MOUNTS', 'v1'],
  ['OPENPIT_TRUSTED_PROXIES', '10.0.0.0/99'],
])('a bad %s stops the start with one line that names it', async (name, value) => {
  const { exitCode, stderr } = await openpit(['serve'], { OPENPIT_DATA_DIR: newFolder(), [name]: value });
  expect(exitCode).toBe(2);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toContain(name);
});

test.each([
  ['one process', {}],
  ['several', { OPENPIT_PROCESSES: '2' }],
])('a port that is taken stops the start of %s with a line that says so', async (_, more) => {
  const other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  try {
    const settings = {
      OPENPIT_DATA_DIR: newFolder(),
      OPENPIT_DEMO: 'false',
      OPENPIT_PORT: String(other.port),
    };
    const { exitCode, stderr } = await openpit(['serve'], { ...settings, ...more });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`another program listens on port ${other.port}`);
    expect(stderr).not.toContain('started again');
  } finally {
    other.stop();
  }
});

test.each([
  [['plan', 'lst'], 'openpit plan --help'],
  [['plan', 'set', 'gold', '--qota', '5'], 'openpit plan set --help'],
  [['feed', 'enable'], 'name a feed, or use --all'],
  [['feed', 'disable'], 'takes KEY (received nothing)'],
  [['import', 'x.csv', '--symbol', 'XAU', '--symbol-column', 'code'], 'not both'],
  [['backup', '/there/is/no/such/folder/x.db'], 'there is no folder'],
])('%p says what would be right', async (args, hint) => {
  const { exitCode, stderr } = await openpit(args, { OPENPIT_DATA_DIR: newFolder() });
  expect(exitCode).toBe(2);
  expect(stderr).toContain(hint);
});
