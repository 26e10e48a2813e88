import { expect, test } from 'bun:test';
import { existsSync, lstatSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { MS_PER_DAY, parseDay, printDay, utcDay } from '../../../src/market/day.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { apiOn } from '../../support/api.ts';
import { duckdb } from '../../support/duckdb.ts';
import { newFolder, onEachEngine } from '../../support/ledger.ts';

const MAIN = join(import.meta.dir, '..', '..', '..', 'src', 'main.ts');
const CODES = ['CORN', 'WTIOIL-FUT', 'XAU'];
const FIRST = parseDay('1990-01-01')!;
const DAYS = 9_000;

onEachEngine('openpit export', (engine) => {
  // The command sees the ledger as of now, so the server does, too.
  const api = apiOn(engine, { now: Date.now() }, async ({ service }) => {
    for (const [i, code] of CODES.entries()) {
      const bars: Record<string, number> = {};
      for (let day = FIRST; day < FIRST + DAYS; day++)
        if (day % (i + 3) > 0) bars[printDay(day)] = day / 8 - i;
      await service.publish(code, bars);
    }
    await service.publish('EUR/USD', { '1990-01-01': 1.25, '1990-01-08': 1.5 });
    await service.publish('XAU', { '2001-05-14': 1_234.5 }); // a correction
  });

  function start(...args: string[]) {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('OPENPIT_'));
    const { config, ledgerUrl } = api.service;
    const location = engine === 'sqlite' ? `sqlite://${ledgerUrl}` : ledgerUrl;
    return Bun.spawn(['bun', MAIN, 'export', ...args], {
      env: {
        ...Object.fromEntries(inherited),
        OPENPIT_DATABASE_URL: location,
        OPENPIT_DATA_DIR: config.dataDir,
        OPENPIT_DEMO: 'false',
      },
      stdout: 'pipe',
      stderr: 'pipe',
    });
  }

  async function openpit(...args: string[]) {
    const child = start(...args);
    const [stdout, stderr, exitCode] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { stdout, stderr, exitCode };
  }

  const VARIANTS: [options: string[], parameters: string][] = [
    [[], ''],
    [['--interval', 'month'], '&interval=month'],
    [
      ['--interval', 'week', '--transform', 'percent', '--period', '2', '--moving', '5'],
      '&interval=week&transform=percent&period=2&moving=5',
    ],
    [['--layout', 'wide', '--field', 'average'], '&layout=wide&field=average'],
  ];

  test('has the rows that the server answers, in every layout and text format', async () => {
    for (const [options, parameters] of VARIANTS) {
      for (const format of ['csv', 'ndjson']) {
        const { stdout, stderr } = await openpit(
          '--format',
          format,
          '--from',
          '1990-02-01',
          '--to',
          '2010-12-31',
          ...options,
        );
        const { text } = await api.ask(
          `/rates/history.${format}?symbols=${CODES}&startDate=1990-02-01&endDate=2010-12-31${parameters}`,
        );
        expect({ options, format, same: stdout === text }).toEqual({ options, format, same: true });
        expect(stderr).toMatch(/^[\d,]+ rows \([\d,]+ a second\), [\d.]+ MB in \d+:\d\d\n$/);
      }
    }
  });

  test('converts, evaluates formulas, and takes a single symbol', async () => {
    const options = [
      '--symbols',
      'XAU,{XAU}-{CORN}',
      '--quote',
      'EUR',
      '--from',
      '1990-01-01',
      '--to',
      '1990-01-20',
    ];
    const { stdout } = await openpit(...options);
    const { text } = await api.ask(
      '/rates/history.csv?symbols=XAU,{XAU}-{CORN}&quote=EUR&startDate=1990-01-01&endDate=1990-01-20',
    );
    expect(text.split('\r\n').length).toBeGreaterThan(10);
    expect(stdout).toBe(text);
  });

  test('says which of the named symbols have no prices in the range', async () => {
    const { exitCode, stdout, stderr } = await openpit('--symbols', 'XAU,CORN,XAG', '--to', '1989-12-31');
    expect({ exitCode, lines: stdout.split('\n').length }).toEqual({ exitCode: 0, lines: 2 });
    const starts = ['XAU', 'CORN'].map(
      (code) => `The data of ${code} starts on 1990-01-02, after this range.\n`,
    );
    expect(stderr).toStartWith(`${starts.join('')}XAG has no data yet.\n`);
    expect((await openpit('--to', '1989-12-31')).stderr).toStartWith('0 rows');
    const today = await openpit('--symbols', 'WTIOIL-FUT,XAG', '--from', printDay(utcDay(Date.now())));
    const [first, second] = today.stderr.split('\n');
    expect(first).toMatch(/^The data of WTIOIL-FUT ends on \d{4}-\d\d-\d\d, before this range\.$/);
    expect(second).toBe('XAG has no data yet.');
    const hours = await openpit('--symbols', 'WTIOIL-FUT,XAG', '--interval', 'hour', '--from', '2000-01-01');
    expect(hours.stderr).toStartWith('WTIOIL-FUT has no prices by the hour.\nXAG has no data yet.\n');
  });

  test('writes Parquet with all bars of the ledger and their sums', async () => {
    const file = join(newFolder(), 'all.parquet');
    expect((await openpit('-o', file)).exitCode).toBe(0);
    const [current] = await api.service.ledger.engine.read`SELECT count(*) AS n, sum(close) AS sum FROM bar b
      WHERE symbol_id IN (SELECT id FROM symbol WHERE code IN ('CORN', 'WTIOIL-FUT', 'XAU'))
        AND NOT EXISTS (SELECT 1 FROM bar w WHERE w.symbol_id = b.symbol_id AND w.day = b.day AND w.revision > b.revision)`;
    const rows = await duckdb(
      `SELECT count(*)::INTEGER, sum(close) FROM '${file}' WHERE symbol NOT LIKE '%/%'`,
    );
    expect(rows).toEqual([[Number(current!.n), Number(current!.sum)]]);
    expect(existsSync(`${file}.part`)).toBe(false);
  });

  test('rejects what the server would reject, by the name of the option, and leaves no file', async () => {
    const file = join(newFolder(), 'none.csv');
    const WRONG: [options: string[], message: string][] = [
      [['--from', '2023-02-29'], '--from must be a day that exists'],
      [['--interval', 'hourly'], '--interval must be one of'],
      [['--symbols', 'NOSUCH'], 'Unknown symbol: NOSUCH. openpit symbols list lists all codes.'],
      [['--format', 'xml'], '--format must be one of csv, ndjson, parquet'],
      [['--field', 'close'], '--field must be sent with --layout wide'],
      [['--period', '3'], '--period must be sent with --transform change, percent or log'],
      [['--symbols', ','], 'Send codes separated by commas, for example --symbols XAU,WTIOIL-FUT.'],
      [['--symbols', 'XAU', '--unit', 'litre'], 'The unit "litre" does not fit XAU'],
      [['--from', '2001-02-01', '--to', '2001-01-01'], '--from 2001-02-01 is after --to 2001-01-01'],
      [['--from', '2100-01-01'], '--from is in the future (received 2100-01-01)'],
    ];
    for (const [options, message] of WRONG) {
      const { exitCode, stderr } = await openpit(...options, '-o', file);
      expect({ options, exitCode, stderr }).toEqual({
        options,
        exitCode: 2,
        stderr: expect.stringContaining(message),
      });
    }
    expect([existsSync(file), existsSync(`${file}.part`)]).toEqual([false, false]);
  });

  test('leaves no file if a price cannot be converted', async () => {
    const file = join(newFolder(), 'euros.csv');
    const { exitCode, stderr } = await openpit('--symbols', 'XAU', '--quote', 'EUR', '-o', file);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringContaining('No exchange rate'),
    });
    expect([existsSync(file), existsSync(`${file}.part`)]).toEqual([false, false]);
  });

  test('says at once that the folder is missing, or that the name is that of a folder', async () => {
    const folder = newFolder();
    const file = join(folder, 'prices.csv');
    await Bun.write(file, '');
    const said = async (name: string) => {
      const { exitCode, stderr } = await openpit('-o', name, '--symbols', 'NOSUCH');
      expect(exitCode).toBe(2);
      return stderr;
    };
    expect(await said(join(folder, 'none', 'prices.csv'))).toBe(
      `openpit: there is no folder ${join(folder, 'none')}; create it, or choose another place\n`,
    );
    expect(await said('')).toBe('openpit: the name of the file is empty\n');
    expect(await said(folder)).toBe(`openpit: ${folder} is a folder; add the name of a file\n`);
    expect(await said(join(file, 'prices.csv'))).toBe(
      `openpit: ${file} is not a folder; choose another place\n`,
    );
  });

  test('refuses a name that promises another format, unless --format says which it is', async () => {
    for (const name of ['prices.xlsx', 'prices.json', 'prices.csv.gz', 'PRICES.TSV']) {
      const file = join(newFolder(), name);
      const { stderr, exitCode } = await openpit('--symbols', 'XAU', '-o', file);
      const extension = name.split('.').at(-1)!.toLowerCase();
      expect(stderr).toBe(
        `openpit: export does not write .${extension}. End the name with .csv, .ndjson or .parquet, or choose the format with --format.\n`,
      );
      expect([exitCode, existsSync(file)]).toEqual([2, false]);
    }
    const file = join(newFolder(), 'prices.json');
    expect((await openpit('--symbols', 'XAU', '--format', 'ndjson', '-o', file)).exitCode).toBe(0);
    expect(await Bun.file(file).text()).toStartWith('{"date":');
    const plain = join(newFolder(), 'prices-2024.05');
    expect((await openpit('--symbols', 'XAU', '-o', plain)).exitCode).toBe(0);
    expect(await Bun.file(plain).text()).toStartWith('date,symbol,');
  });

  test('fails, and leaves no file, if the disk refuses it', async () => {
    const { exitCode, stderr } = await openpit('-o', join(newFolder(), `${'x'.repeat(300)}.csv`));
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('ENAMETOOLONG') });
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('leaves no incomplete file when it is ended by %s', async (signal, code) => {
    const part = join(newFolder(), 'prices.csv.part');
    Bun.spawnSync(['mkfifo', part]);
    const child = start('-o', part.replace('.part', ''));
    const reader = await open(part);
    await reader.read(Buffer.alloc(1), 0, 1); // the export has begun, and waits for the reader of the rest
    child.kill(signal);
    expect([await child.exited, existsSync(part)]).toEqual([code, false]);
    await reader.close();
  });

  test('writes a pipe as it is, and the file behind a link', async () => {
    const folder = newFolder();
    const [file, link, pipe] = ['file.csv', 'link.csv', 'pipe'].map((name) => join(folder, name));
    writeFileSync(file!, 'before');
    symlinkSync(file!, link!);
    Bun.spawnSync(['mkfifo', pipe!]);
    const options = ['--symbols', 'XAU', '--to', '1990-02-01', '--format', 'csv', '-o'];
    const fromPipe = readFile(pipe!, 'utf8');
    for (const output of [link!, pipe!]) expect((await openpit(...options, output)).exitCode).toBe(0);
    const { stdout } = await openpit(...options, '-');
    expect([readFileSync(file!, 'utf8'), await fromPipe]).toEqual([stdout, stdout]);
    expect(lstatSync(link!).isSymbolicLink()).toBe(true);
    expect(readdirSync(folder).toSorted()).toEqual(['file.csv', 'link.csv', 'pipe']);
  });

  test('has the minutes and hours that the server answers, in every layout and format', async () => {
    const { service } = api;
    const today = utcDay(Date.now());
    const start = (today - 7 - ((today + 2) % 7)) * MS_PER_DAY; // a Tuesday
    for (let i = 0; i < 400; i++) {
      await service.tick('XAU', 2_000 + (i % 37) / 4, start + i * 47_000);
      if (i % 3 === 0) await service.tick('CORN', 400 + (i % 11) / 4, start + i * 53_000);
    }
    const from = printDay(start / MS_PER_DAY - 1);
    for (const [options, parameters] of [
      [['--interval', 'minute'], '&interval=minute'],
      [['--interval', '15min', '--layout', 'wide'], '&interval=15min&layout=wide'],
      [
        ['--interval', 'hour', '--transform', 'change', '--moving', '2'],
        '&interval=hour&transform=change&moving=2',
      ],
    ] as [string[], string][]) {
      const symbols = ['--symbols', 'XAU,CORN', '--from', from];
      const { stdout } = await openpit(...symbols, ...options);
      const { text } = await api.ask(
        `/rates/history.csv?symbols=XAU,CORN&startDate=${from}&endDate=2199-01-01${parameters}`,
      );
      expect(stdout).toBe(text);
      expect(text.split('\r\n').length).toBeGreaterThan(6);
    }
    const file = join(newFolder(), 'hours.parquet');
    expect((await openpit('--symbols', 'XAU', '--interval', 'hour', '-o', file)).exitCode).toBe(0);
    const [row] = await duckdb(
      `SELECT count(*)::INTEGER, typeof(any_value(date)), sum(count)::INTEGER FROM '${file}'`,
    );
    expect(row).toEqual([6, 'TIMESTAMP WITH TIME ZONE', 313]);
  });
});

test('an empty ledger gives a table without rows', async () => {
  const dir = newFolder();
  await (await Ledger.open(join(dir, 'openpit.db'), systemClock)).close();
  const child = Bun.spawn(['bun', MAIN, 'export', '--symbols', 'XAU', '--data-dir', dir], {
    stdout: 'pipe',
    stderr: 'pipe',
  });
  expect(await new Response(child.stdout).text()).toBe(
    'date,symbol,open,high,low,close,unit,quote,factor,source,average,count\r\n',
  );
});

test('a folder without a ledger is refused: if it is mistyped, the table would have no rows', () => {
  const dir = join(newFolder(), 'mistyped');
  const file = join(newFolder(), 'prices.csv');
  const { exitCode, stderr } = Bun.spawnSync(['bun', MAIN, 'export', '-o', file, '--data-dir', dir]);
  expect(stderr.toString()).toBe(`openpit: there is no ledger at ${join(dir, 'openpit.db')}\n`);
  expect(exitCode).toBe(2);
  expect(existsSync(dir) || existsSync(file)).toBe(false);
});
