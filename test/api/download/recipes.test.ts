import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { parseDay, printDay, weekday } from '../../../src/market/day.ts';
import { apiOn } from '../../support/api.ts';
import { duckdb } from '../../support/duckdb.ts';
import { newFolder, onEachEngine } from '../../support/ledger.ts';

const RECIPES = await Bun.file(join(import.meta.dir, '../../../docs/recipes.md')).text();

/** The code blocks of a language, in order. */
function blocks(language: string): string[] {
  return [...RECIPES.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\n\`\`\``, 'gs'))].map(([, code]) => code!);
}

/** A Python that has a module: the one on the path may differ from the system's. */
function pythonWith(...modules: string[]): string | undefined {
  const candidates = [process.env.OPENPIT_TEST_PYTHON, 'python3', '/usr/bin/python3'];
  return candidates.find(
    (python) =>
      python && Bun.which(python) && Bun.spawnSync([python, '-c', `import ${modules.join(', ')}`]).success,
  );
}

const PANDAS = pythonWith('pandas');
const PYARROW = pythonWith('pandas', 'pyarrow');
const POLARS = pythonWith('polars');

/** Ten years of weekdays. */
function tenYears(factor: number): Record<string, number> {
  const bars: Record<string, number> = {};
  for (let day = parseDay('2014-05-15')!; day <= parseDay('2024-05-14')!; day++) {
    if (weekday(day) % 6 !== 0) bars[printDay(day)] = ((day % 97) + 100) * factor;
  }
  return bars;
}

onEachEngine('the recipes', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', tenYears(8));
    await service.publish('XAG', tenYears(0.125));
  });

  const here = (text: string) =>
    text.replaceAll('https://your.host', api.service.url).replaceAll('YOUR_KEY', api.key);

  async function run(command: string[]): Promise<string> {
    const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe' });
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    expect({ exitCode: await child.exited, err }).toMatchObject({ exitCode: 0 });
    return out;
  }

  test('every URL is answered, with a table', async () => {
    const urls = [...RECIPES.matchAll(/https:\/\/your\.host\/rates\/[^\s"')]+/g)].map(([url]) => here(url));
    expect(urls.length).toBeGreaterThan(10);
    for (const url of urls) {
      const filled = url
        .replace(/\$\{__from:date:[^}]+\}/, '2024-01-01')
        .replace(/\$\{__to:date:[^}]+\}/, '2024-05-14');
      const response = await fetch(filled, { headers: { 'x-api-key': api.key } });
      expect({ url, status: response.status, warnings: response.headers.get('openpit-warnings') }).toEqual({
        url,
        status: 200,
        warnings: null,
      });
      expect(response.headers.get('content-type')).toMatch(/csv|parquet/);
    }
  });

  test('one price is in the second row and column of the table, where the spreadsheets look for it', async () => {
    const { text } = await api.ask('/rates/latest.csv?symbols=XAU');
    expect(Number(text.split('\n')[1]!.split(',')[1])).toBe(tenYears(8)['2024-05-14']!);
    expect(text.replace(/^.*\nXAU,([^,]+),.*$/s, '$1')).toBe(String(tenYears(8)['2024-05-14']));
  });

  test.skipIf(!PANDAS)('pandas, CSV (skipped where it is not installed)', async () => {
    const out = await run([PANDAS!, '-c', here(blocks('python')[0]!)]);
    expect(out).toMatch(/2023-01-01 +64\.0/);
  });

  test.skipIf(!PYARROW)('pandas, Parquet (skipped without pyarrow)', async () => {
    const out = await run([PYARROW!, '-c', here(blocks('python')[1]!)]);
    expect(out).toMatch(/XAU +2444\.0 /);
  });

  test.skipIf(!POLARS)(
    'polars, Parquet in ranges, charged once (skipped where it is not installed)',
    async () => {
      const key = await api.service.key();
      const code = blocks('python')[2]!
        .replaceAll('https://your.host', api.service.url)
        .replaceAll('YOUR_KEY', key);
      const out = await run([POLARS!, '-c', code]);
      expect(out).toMatch(/XAG .* 2015 /);
      expect((await api.ask('/usage', { key })).body.used).toBe(3); // 4,888 rows
    },
  );

  test.skipIf(!Bun.which('Rscript'))('R (skipped where it is not installed)', async () => {
    const out = await run(['Rscript', '-e', here(blocks('r')[0]!)]);
    expect(out).toMatch(/^2444 1\.\d+/);
  });

  test('DuckDB, from the file', async () => {
    const sql = blocks('sql')[0]!;
    const [, url] = /'(https:[^']+)'/.exec(sql)!;
    const file = join(newFolder(), 'history.parquet');
    await Bun.write(file, await fetch(here(url!)));
    const rows = await duckdb(sql.replace(url!, file));
    expect(rows).toHaveLength(20);
    expect(rows[0]!.slice(0, 2)).toEqual(['XAG', '2015']);
  });
});
