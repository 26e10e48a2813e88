import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from '../support/ledger.ts';
import { eventually } from '../support/program.ts';

const ROOT = join(import.meta.dir, '..', '..');

/** npm downloads what is not in its cache. */
setDefaultTimeout(600_000);

const STRICT = { compilerOptions: { strict: true, noEmit: true, module: 'nodenext', target: 'es2022' } };

/** Uses every part of the types; the last line must not compile. */
const PROGRAM = `
import { ConnectionLost, Openpit, type History, type Latest, QuotaExhausted } from 'openpit-client';
const client = new Openpit({ url: 'http://127.0.0.1', key: 'x', version: 'v2' });
const latest: Latest = await client.latest(['XAU'], { unit: 'kg' });
const rate: number | undefined = latest.rates['XAU'];
const exact = new Openpit({ decimals: 'string' });
const text: string | undefined = (await exact.latest(['XAU'])).rates['XAU'];
for await (const page of client.history({ symbols: ['XAU'], from: '2024-01-01', to: '2024-02-01', interval: 'month' })) {
  const rows: History['rates'] = page.rates;
  console.log(rows.length, rate, text);
}
for await (const event of client.stream(['XAU'], { signal: new AbortController().signal })) console.log(event.rate);
try {
  await client.usage({ timeoutMs: 5 });
} catch (error) {
  if (error instanceof QuotaExhausted) console.log(error.resetAt, error.advice);
  if (error instanceof ConnectionLost) console.log(error.mayBeCounted);
}
// @ts-expect-error: an interval that does not exist
client.history({ symbols: ['XAU'], from: '2024-01-01', to: '2024-02-01', interval: 'decade' });
`;

async function run(command: readonly string[], cwd: string): Promise<string> {
  const child = Bun.spawn([...command], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

describe('the packed packages, installed into an empty folder', () => {
  const packed = newFolder();
  const installed = newFolder();

  beforeAll(async () => {
    await run(['npm', 'pack', '--pack-destination', packed], ROOT);
    await run(['npm', 'pack', '--pack-destination', packed, '--workspace', 'client'], ROOT);
    await Bun.write(join(installed, 'package.json'), '{ "private": true, "type": "module" }');
    const tarballs = readdirSync(packed).map((file) => join(packed, file));
    expect(tarballs).toHaveLength(2);
    await run(['npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', ...tarballs], installed);
  });

  test('npx openpit serve starts a service, and openpit-client reads it from Node', async () => {
    mkdirSync(join(installed, 'data'));
    const server = Bun.spawn(['npx', '--no-install', 'openpit', 'serve'], {
      cwd: installed,
      env: { ...process.env, OPENPIT_PORT: '0', OPENPIT_DATA_DIR: join(installed, 'data') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    try {
      let output = '';
      const read = async (stream: ReadableStream<Uint8Array>) => {
        for await (const bytes of stream) output += new TextDecoder().decode(bytes);
      };
      void read(server.stdout);
      void read(server.stderr);
      const found = () => /listens on (\S+?),[\s\S]*Demo key: (\S+)/.exec(output);
      await eventually(async () => {
        if (server.exitCode !== null) throw new Error(output);
        return found() !== null;
      }, 180_000);
      const [, url, key] = found()!;
      const script = `import { Openpit } from 'openpit-client';
        const client = new Openpit({ url: '${url}', key: '${key}' });
        console.log(Object.keys((await client.latest(['XAU', 'WTIOIL-FUT'])).rates).join());`;
      await Bun.write(join(installed, 'read.mjs'), script);
      expect((await run(['node', 'read.mjs'], installed)).trim()).toBe('XAU,WTIOIL-FUT');
      const page = await (await fetch(`${url}/`)).text();
      const code = /src="([^"]+\.js)"/.exec(page)![1]!;
      expect((await fetch(new URL(code, `${url}/`))).status).toBe(200);
    } finally {
      server.kill();
      await server.exited;
    }
  });

  test('the client compiles under strict TypeScript, with its types checked', async () => {
    await Bun.write(join(installed, 'program.ts'), PROGRAM);
    for (const lib of [undefined, ['es2022', 'dom']]) {
      const { compilerOptions } = STRICT;
      const options = { ...compilerOptions, skipLibCheck: false, types: [], ...(lib && { lib }) };
      await Bun.write(
        join(installed, 'tsconfig.json'),
        JSON.stringify({ compilerOptions: options, files: ['program.ts'] }),
      );
      await run([join(ROOT, 'node_modules/.bin/tsc'), '-p', '.'], installed);
    }
  });

  test('the packages contain what they need, and no tests', async () => {
    const files = async (name: string) => {
      const file = readdirSync(packed).find((one) => one.startsWith(name))!;
      return (await run(['tar', 'tzf', join(packed, file)], packed)).trim().split('\n');
    };
    const client = await files('openpit-client-');
    expect(client).toContain('package/python/openpit.py');
    expect(client).toContain('package/README.md');
    for (const file of [...client, ...(await files('openpit-0'))]) {
      expect(file).not.toMatch(/\.test\.tsx?$|^package\/(test|bench|docs)\//);
    }
  });
});
