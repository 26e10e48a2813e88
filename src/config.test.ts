import { describe, expect, test } from 'bun:test';
import { readConfig, readUsableConfig } from './config.ts';
import { DEFAULT_RETENTION } from './ledger/retention/rules.ts';

test('secrets holds the API keys of providers by name, and nothing else', () => {
  const env = {
    OPENPIT_FRED_API_KEY: ' fred-key ',
    OPENPIT_EIA_API_KEY: '',
    OPENPIT_ADMIN_TOKEN: 'a-long-admin-token',
    PATH: '/bin',
  };
  const config = readConfig(env, {});
  expect(config.secrets).toEqual({ OPENPIT_FRED_API_KEY: 'fred-key' });
  expect(Object.isFrozen(config.secrets)).toBe(true);
  expect(config.warnings).toEqual([]);
});

test('a standby is for PostgreSQL only, and its URL is checked', () => {
  const [ledger, standby] = ['postgres://one/db', 'postgres://two/db'];
  const withUrls = (database: string, read: string) =>
    readConfig({ OPENPIT_DATABASE_URL: database, OPENPIT_READ_URL: read }, {});
  expect(withUrls(ledger, standby).readUrl).toBe(standby);
  expect(withUrls(ledger, '').readUrl).toBeUndefined();
  expect(() => withUrls(ledger, 'two')).toThrow('OPENPIT_READ_URL');
  const onSqlite = withUrls('', standby);
  expect([onSqlite.readUrl, onSqlite.warnings.length]).toEqual([undefined, 1]);
});

test('a URL of PostgreSQL names a host', () => {
  for (const url of [
    'postgres:///openpit',
    'postgresql://user:secret@/openpit',
    'postgres://:5432/openpit',
    'postgres://one:5432,,two/openpit',
    'postgres:openpit',
    'postgres:/one/openpit',
  ]) {
    const read = () => readConfig({ OPENPIT_DATABASE_URL: url }, {});
    expect(read, url).toThrow(
      'OPENPIT_DATABASE_URL must name the host of PostgreSQL: postgres://USER:PASSWORD@',
    );
    expect(read, url).not.toThrow('secret');
  }
  const standby = { OPENPIT_DATABASE_URL: 'postgres://one/db', OPENPIT_READ_URL: 'postgres:///db' };
  expect(() => readConfig(standby, {})).toThrow('OPENPIT_READ_URL must name the host');
  const several = 'postgres://user:p%2Cw@one:5432,[::1]:5433/db?sslmode=require';
  expect(readConfig({ OPENPIT_DATABASE_URL: several }, {}).databaseUrl).toBe(several);
});

test.each(['pa%ss', 'pa#ss', 'pa/ss', 'pa?ss', '12/ss', '12#s=s', '%'])(
  'a URL of PostgreSQL with the password %j says what to encode, and does not repeat it',
  (password) => {
    for (const url of [
      `postgres://u:${password}@one:5432/db`,
      `postgres://u:${password}@one,two/db?prepare=false`,
    ]) {
      const { errors } = readUsableConfig({ OPENPIT_DATABASE_URL: url }, {});
      expect(errors).toHaveLength(1);
      expect(errors[0]).toMatch(/^OPENPIT_DATABASE_URL must be like .* percent-encoded/);
      expect(errors[0]).not.toContain(`:${password}`);
      expect(errors[0]).not.toContain('u:');
    }
  },
);

test.each([
  'u:p%40%23%2F@one:5432/db',
  'one/db?application_name=a@b',
  'u:p@ss@one/db',
  'one:1,[::1]:5433/db',
])('the URL postgres://%s of PostgreSQL is accepted', (rest) => {
  const url = `postgres://${rest}`;
  expect(readConfig({ OPENPIT_DATABASE_URL: url }, {}).databaseUrl).toBe(url);
});

test('the default retention of the settings is that of the ledger', () => {
  expect(readConfig({}, {}).retention).toEqual(DEFAULT_RETENTION);
});

test('the key of the client commands is no unknown setting', () => {
  expect(readConfig({ OPENPIT_KEY: 'pit_live_x' }, {}).warnings).toEqual([]);
});

test('a misspelt setting is reported with the setting that was probably meant', () => {
  const { warnings } = readConfig({ OPENPIT_PROT: '1', OPENPIT_ADMINTOKEN: 'x', OPENPIT_ZZZZZZ: 'x' }, {});
  expect(warnings).toEqual([
    'OPENPIT_PROT is not a setting and has no effect; did you mean OPENPIT_PORT?',
    'OPENPIT_ADMINTOKEN is not a setting and has no effect; did you mean OPENPIT_ADMIN_TOKEN?',
    'OPENPIT_ZZZZZZ is not a setting and has no effect',
  ]);
});

test('all invalid settings are reported at once, and the others keep their values', () => {
  const { config, errors } = readUsableConfig(
    { OPENPIT_PORT: 'x', OPENPIT_TLS_KEY: 'key.pem', OPENPIT_HOST: '10.0.0.1' },
    { 'cache-mb': '1' },
  );
  expect(errors.map((error) => error.split(' ')[0]).sort()).toEqual([
    'OPENPIT_CACHE_MB',
    'OPENPIT_PORT',
    'OPENPIT_TLS_CERT',
  ]);
  expect(config).toMatchObject({ port: 8080, cacheMb: 448, host: '10.0.0.1', tls: undefined });
});

test('an admin token that no request can send is refused, and not repeated', () => {
  const read = () => readConfig({ OPENPIT_ADMIN_TOKEN: 'ein-schlüssel-für-alle' }, {});
  expect(read).toThrow('OPENPIT_ADMIN_TOKEN must consist of ASCII characters');
  expect(read).not.toThrow('schl');
});

test.each(['postgres:', 'postgres:/db.example/openpit', 'postgresql:openpit', 'sqlite:', 'sqlite://'])(
  'the database URL %j is refused: it must not create a SQLite file of that name',
  (url) => {
    expect(() => readConfig({ OPENPIT_DATABASE_URL: url }, {})).toThrow('OPENPIT_DATABASE_URL');
  },
);

test('a SQLite URL may have one slash or three', () => {
  for (const url of ['sqlite:/var/lib/openpit.db', 'sqlite:///var/lib/openpit.db'])
    expect(readConfig({ OPENPIT_DATABASE_URL: url }, {}).databaseUrl).toBe(url);
});

test.each(['0x1F90', '8e3', '8080.0', '+8080'])('%j is not a whole number', (port) => {
  expect(() => readConfig({ OPENPIT_PORT: port }, {})).toThrow('OPENPIT_PORT must be a whole number');
});

test('a webhook secret that would sign with another key than the receiver’s is refused', () => {
  const read = (secret: string) => readConfig({ OPENPIT_WEBHOOK_SECRET: secret }, {}).webhookSecret;
  for (const secret of ['whsec_', 'whsec_!!!!', 'whsec_bm90 base64'])
    expect(() => read(secret)).toThrow(/^OPENPIT_WEBHOOK_SECRET must be base64/);
  for (const secret of ['any other text', 'whsec_c2VjcmV0LWtleQ==', 'whsec_c2VjcmV0LWtleQ'])
    expect(read(secret)).toBe(secret);
});

describe('OPENPIT_MOUNTS', () => {
  const mountsOf = (OPENPIT_MOUNTS: string) => readConfig({ OPENPIT_MOUNTS }, {}).mounts;

  test('the default paths speak the versions that they name', () => {
    expect(mountsOf('')).toEqual([
      { path: '', dialect: 'v1' },
      { path: '/v1', dialect: 'v1' },
      { path: '/v2', dialect: 'v2' },
      { path: '/v3', dialect: 'v3' },
    ]);
  });

  test('a version can be assigned to any path, and wins over its name', () => {
    expect(mountsOf('/=v3, /v2=v1 ,/v1.0/commodity = V2')).toEqual([
      { path: '', dialect: 'v3' },
      { path: '/v2', dialect: 'v1' },
      { path: '/v1.0/commodity', dialect: 'v2' },
    ]);
  });

  test.each(['v2', '/a=v9', '/a=', '/a=v1=v2', '/a,/a=v2', '/a b', '=v2'])('%j is refused', (text) => {
    expect(() => mountsOf(text)).toThrow('OPENPIT_MOUNTS');
  });
});
