import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import dashboard from '../../../deploy/grafana-dashboard.json';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { EMPTY_RUN } from '../../support/feeds/run-report.ts';
import { makeCertificate } from '../../support/http/certificates.ts';
import { WebhookReceiver } from '../../support/http/webhook-receiver.ts';
import { newFolder } from '../../support/ledger.ts';
import { hasPromtool, promtool } from '../../support/monitoring/metrics.ts';
import { hasPrometheus, Prometheus } from '../../support/monitoring/prometheus.ts';
import { eventually, openpit, Program } from '../../support/program.ts';

/** Checks the dashboard and the alert rules in deploy/ against a service that uses every feature. */
setDefaultTimeout(180_000);

const DEPLOY = join(import.meta.dir, '../../../deploy');
const RULES = join(DEPLOY, 'prometheus-alerts.yaml');
const TOKEN = 'a-long-token-of-the-operator';
const HOUR = 3_600_000;

const manual = await Bun.file(join(DEPLOY, '../docs/monitoring.md')).text();
const rulesText = await Bun.file(RULES).text();
const rules = (
  Bun.YAML.parse(rulesText) as { groups: { rules: { alert: string; expr: string }[] }[] }
).groups.flatMap(({ rules }) => rules);
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
/** The query that Grafana would send, with all jobs and instances selected. */
const panelExpressions = panels.flatMap((panel) =>
  (panel.targets ?? []).map(({ expr }) =>
    expr.replaceAll('$__rate_interval', '30s').replaceAll('$job', '.*').replaceAll('$instance', '.*'),
  ),
);
const expressions = [...panelExpressions, ...rules.map(({ expr }) => expr)];

const folder = newFolder();
const receiver = new WebhookReceiver();
let program: Program;
const ask = (path: string, init: RequestInit = {}) =>
  fetch(program.url + path, {
    ...init,
    headers: { authorization: `Bearer ${TOKEN}`, ...init.headers },
    tls: { rejectUnauthorized: false },
  });

beforeAll(async () => {
  const { cert, key } = makeCertificate();
  writeFileSync(join(folder, 'cert.pem'), cert);
  writeFileSync(join(folder, 'key.pem'), key, { mode: 0o600 });
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  const ledger = await Ledger.open(join(dataDir, 'openpit.db'), systemClock);
  const now = Date.now();
  // Neither contacts a provider: one has already run, and the other has no API key.
  await ledger.feeds.enable('ecb', now, now + HOUR);
  const lease = await ledger.feeds.take({ feed: 'ecb', holder: 'x', leaseMs: HOUR, started: now });
  await ledger.feeds.finish(lease!, {
    ended: now,
    nextRun: now + HOUR,
    lateAt: now + HOUR,
    report: EMPTY_RUN,
    coverage: { days: 10, gaps: 1, firstDay: 20_000, lastDay: 20_012 },
  });
  await ledger.feeds.enable('eia', now, now + HOUR);
  await ledger.close();
  program = await Program.start({
    OPENPIT_DATA_DIR: dataDir,
    OPENPIT_DEMO: 'false',
    OPENPIT_PROCESSES: '2',
    OPENPIT_ADMIN_TOKEN: TOKEN,
    OPENPIT_WEBHOOK_URL: receiver.url,
    OPENPIT_ACCESS_LOG: join(folder, 'access.log'),
    OPENPIT_TLS_CERT: join(folder, 'cert.pem'),
    OPENPIT_TLS_KEY: join(folder, 'key.pem'),
  });
});
afterAll(async () => {
  await program?.end('SIGKILL');
  await receiver.stop();
});

test('every metric and every label in the dashboard and the rules is exported by the running service', async () => {
  await eventually(async () =>
    (await (await ask('/metrics')).text()).includes('feed="eia",status="failed"} 1'),
  );
  await ask('/symbols');
  const page = await (await ask('/metrics')).text();
  const used = expressions.flatMap((expression) => [
    ...expression.matchAll(/\b((?:openpit|process)_\w+)(\{[^}]*\})?/g),
  ]);
  expect(used.length).toBeGreaterThan(60);
  for (const [, name, matchers = ''] of used) {
    const family = name!.replace(/_(bucket|sum|count)$/, '');
    expect(page).toMatch(new RegExp(`^# TYPE (${name} (gauge|counter)|${family} histogram)$`, 'm'));
    if (name === 'openpit_alarm') continue; // there are no alarms
    for (const [, label] of matchers.matchAll(/([a-z]+)(?:=~|!~|!=|=)"/g)) {
      if (label === 'job' || label === 'instance') continue; // Prometheus adds these
      expect(page).toMatch(new RegExp(`^${name}\\{([^}]*,)?${label}="`, 'm'));
    }
  }
});

test('every metric of the running service is documented', async () => {
  const page = await (await ask('/metrics')).text();
  const names = [...page.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name!);
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter((name) => !manual.includes(`\`${name}\``))).toEqual([]);
});

test('every panel has a unique id, a position of its own, and a description of its data source', () => {
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  const taken = new Set<string>();
  for (const { gridPos, title } of dashboard.panels) {
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        const cell = `${x} ${y}`;
        expect([title, taken.has(cell), x < 24]).toEqual([title, false, true]);
        taken.add(cell);
      }
    }
  }
  for (const panel of panels) {
    expect(panel.datasource).toEqual({
      type: 'prometheus',
      uid: expect.stringMatching(/^\$\{datasource\}$/),
    });
    expect(panel.targets!.length).toBeGreaterThan(0);
  }
});

test.skipIf(!hasPromtool)('promtool accepts the rules, and their tests pass', async () => {
  expect((await promtool(['check', 'rules', RULES]))[0]).toBe(0);
  const [exitCode, said] = await promtool(['test', 'rules', join(DEPLOY, 'prometheus-alerts.test.yaml')]);
  expect([exitCode, said]).toEqual([0, expect.stringContaining('SUCCESS')]);
});

test('every alert has a test in which it fires', async () => {
  const tests = await Bun.file(join(DEPLOY, 'prometheus-alerts.test.yaml')).text();
  for (const { alert } of rules) expect(tests).toContain(`'{alertname="${alert}"}', value: 1`);
});

test.skipIf(!hasPrometheus)(
  'a real Prometheus, configured as documented, draws every panel and evaluates every rule',
  async () => {
    const { stdout } = await openpit(['account', 'create', '--name', 'A', '--plan', 'unlimited', '--json'], {
      OPENPIT_DATA_DIR: join(folder, 'data'),
    });
    const { key } = JSON.parse(stdout) as { key: string };
    const tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, TOKEN, { mode: 0o600 });
    chmodSync(folder, 0o700);
    const prometheus = await Prometheus.start(documentedConfiguration(tokenFile));
    try {
      let done = false;
      const use = async () => {
        for (let n = 0; !done; n++) {
          for (const path of ['/symbols', '/rates/latest?symbols=XAU', '/nowhere']) {
            await (await ask(path, { headers: { 'x-api-key': key } })).arrayBuffer();
          }
          const ticks = [{ symbol: 'XAU', price: 2_000, at: new Date().toISOString(), id: String(n) }];
          const bars = [{ symbol: 'XAG', date: '2024-05-14', open: 1, high: 1, low: 1, close: 1 }];
          for (const [kind, records] of Object.entries({ ticks, bars })) {
            const body = JSON.stringify({ source: 'desk', [kind]: records });
            const headers = { 'content-type': 'application/json' };
            const reply = await ask(`/admin/${kind}`, { method: 'POST', body, headers });
            expect(reply.status).toBe(200);
          }
          await Bun.sleep(200);
        }
      };
      const using = use();
      const isDrawn = async () =>
        (await prometheus.query('rate(openpit_push_seconds_count{kind="bars"}[30s]) > 0')).length > 0;
      await eventually(isDrawn, 60_000);
      const empty: string[] = [];
      for (const expression of panelExpressions) {
        const result = await prometheus.query(expression);
        if (result.length === 0) empty.push(expression);
      }
      expect(empty.filter((expression) => !expression.includes('openpit_alarm'))).toEqual([]);
      expect(await prometheus.query('count by (process) (openpit_ready)')).toHaveLength(2);
      await eventually(async () => (await prometheus.rules()).every(({ health }) => health === 'ok'));
      const evaluated = await prometheus.rules();
      expect(evaluated).toHaveLength(rules.length);
      expect(evaluated.filter(({ state }) => state === 'firing').map(({ name }) => name)).toEqual([]);
      done = true;
      await using;
    } finally {
      await prometheus.stop();
    }
  },
);

/** The example of docs/monitoring.md, with this service's address and certificate. */
function documentedConfiguration(tokenFile: string): string {
  const lines = manual.split('\n');
  const from = lines.indexOf('    scrape_configs:');
  const example = lines.slice(from, lines.indexOf('', from)).map((line) => line.slice(4));
  const scrape = example
    .join('\n')
    .replace('/etc/prometheus/openpit-token', tokenFile)
    .replace(/targets: \[[^\]]*\]/, `targets: ["${new URL(program.url).host}"]`);
  const tls = '    scheme: https\n    tls_config: { insecure_skip_verify: true }';
  const intervals = 'global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }';
  return `${intervals}\nrule_files: ["${RULES}"]\n${scrape}\n${tls}\n`;
}
