import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { flagOf, SETTINGS, type SettingName } from '../../config/settings.ts';
import { type Config, readConfig, readUsableConfig } from '../../config.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { systemClock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/log/log.ts';

/** A flag of a command. `value` names what follows it; a flag without one is a switch. */
export interface Flag {
  value?: string;
  help: string;
}

export interface Command {
  /** The words that call it, for example `account create`. */
  name: string;
  /** What follows the name, for example `FILE`; `[FILE]` may be left out. */
  operands?: readonly string[];
  summary: string;
  flags: Readonly<Record<string, Flag>>;
  /** Which settings it takes as flags, beside the environment; those of the ledger when it does not say. */
  settings?: readonly SettingName[];
  /** Whether it creates a ledger in the default folder when there is none. Others need to be told where to. */
  createsLedger?: true;
  /** Whether it runs whatever is wrong: settings that cannot be used have their defaults, and a ledger need not be there. */
  toleratesAnything?: true;
  run(call: CommandCall): Promise<void>;
}

/** One call of a command, with its flags read. */
export interface CommandCall {
  operands: readonly string[];
  config: Config;
  /** What is wrong with settings that cannot be used, for a command that tolerates that. */
  settingErrors: readonly string[];
  /** The value of a flag, if it was given. */
  flag(name: string): string | undefined;
  /** The value of a flag that must be given. */
  required(name: string): string;
  isSet(name: string): boolean;
  /** Opens the ledger for some work, and closes it. */
  withLedger<T>(work: (ledger: Ledger) => Promise<T>): Promise<T>;
}

/** A call that is wrong: told in one line, exit code 2. */
export class UsageError extends Error {}

/** Where the ledger is: every command that opens it can be pointed at it. */
export const LEDGER_SETTINGS: readonly SettingName[] = ['OPENPIT_DATA_DIR', 'OPENPIT_DATABASE_URL'];

export const JSON_FLAG: Readonly<Record<string, Flag>> = { json: { help: 'print JSON' } };

/** For what cannot be undone. */
export const YES_FLAG: Readonly<Record<string, Flag>> = { yes: { help: 'confirm: it cannot be undone' } };

/** Refuses a deletion that was not confirmed. */
export function requireYes(call: CommandCall, what: string): void {
  if (!call.isSet('yes')) throw new UsageError(`this would delete ${what}, for good; add --yes to do it`);
}

export function readCall(command: Command, args: readonly string[]): CommandCall | 'help' {
  const options: Record<string, { type: 'string' | 'boolean' }> = { help: { type: 'boolean' } };
  for (const [name, flag] of Object.entries(command.flags)) {
    options[name] = { type: flag.value === undefined ? 'boolean' : 'string' };
  }
  const taken = command.settings ?? LEDGER_SETTINGS;
  for (const env of taken) options[flagOf(env)] = { type: 'string' };
  const { values, positionals } = parse(command.name, args, options);
  if (values.help) return 'help';
  const expected = command.operands ?? [];
  const least = expected.filter((operand) => !operand.startsWith('[')).length;
  if (positionals.length < least || positionals.length > expected.length) {
    const takes = expected.length === 0 ? 'takes no further words' : `takes ${expected.join(' ')}`;
    const received = positionals.length === 0 ? 'nothing' : positionals.join(' ');
    throw new UsageError(`openpit ${command.name} ${takes} (received ${received})`);
  }
  const flag = (name: string) => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  const settings = Object.fromEntries(taken.map((env) => [flagOf(env), flag(flagOf(env))]));
  const { config, errors } = command.toleratesAnything
    ? readUsableConfig(process.env, settings)
    : { config: readConfig(process.env, settings), errors: [] };
  if (!command.createsLedger && !command.toleratesAnything) requireLedger(config);
  return {
    operands: positionals,
    config,
    settingErrors: errors,
    flag,
    required(name) {
      const value = flag(name);
      if (value === undefined || value === '')
        throw new UsageError(`openpit ${command.name} needs --${name}`);
      return value;
    },
    isSet: (name) => values[name] === true,
    withLedger: (work) => withLedger(config, work),
  };
}

/** The flag as a whole number within bounds; undefined when it was not given. */
export function wholeFlag(call: CommandCall, name: string, min: number, max: number): number | undefined {
  const text = call.flag(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new UsageError(`--${name} must be a whole number from ${min} to ${max} (received "${text}")`);
}

export function helpOf(command: Command): string {
  const rows: [string, string][] = Object.entries(command.flags).map(([name, { value, help }]) => [
    `--${name}${value === undefined ? '' : ` ${value}`}`,
    help,
  ]);
  for (const env of command.settings ?? LEDGER_SETTINGS) {
    const { help, default: fallback } = SETTINGS.find((setting) => setting.env === env)!;
    rows.push([`--${flagOf(env)} …`, `${help}${fallback === '' ? '' : ` (${fallback})`}; or ${env}`]);
  }
  rows.push(['--help', 'show this']);
  const words = ['openpit', command.name, ...(command.operands ?? []), '[flags]'].join(' ');
  return `${command.summary}\n\nUsage: ${words}\n\n${table(rows)}`;
}

/** Rows in aligned columns. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  }
  return rows
    .map(
      (row) =>
        `  ${row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i]!))).join('  ')}`,
    )
    .join('\n');
}

/** A ledger that a slip of the folder creates is one that the server does not know. */
function requireLedger({ ledgerGiven, databaseUrl, dataDir }: Config): void {
  if (ledgerGiven || existsSync(databaseUrl)) return;
  throw new UsageError(
    `there is no ledger in ${dataDir}; say where it is with --data-dir or --database-url (or OPENPIT_DATA_DIR, OPENPIT_DATABASE_URL)`,
  );
}

async function withLedger<T>(config: Config, work: (ledger: Ledger) => Promise<T>): Promise<T> {
  const ledger = await Ledger.open(config.databaseUrl, systemClock);
  try {
    return await work(ledger);
  } finally {
    await ledger.close();
  }
}

function parse(
  name: string,
  args: readonly string[],
  options: Record<string, { type: 'string' | 'boolean' }>,
) {
  try {
    return parseArgs({ args: joinNegatives(args), options, allowPositionals: true, strict: true });
  } catch (error) {
    const [what] = messageOf(error).split(/\. |\n/);
    throw new UsageError(`${what}; openpit ${name} --help lists the flags`);
  }
}

/** `--quota -5` as `--quota=-5`, so that the number is refused by its own rule and not as an unknown flag. */
function joinNegatives(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const before = joined.at(-1);
    if (/^-\d/.test(arg) && before?.startsWith('--') && !before.includes('='))
      joined[joined.length - 1] += `=${arg}`;
    else joined.push(arg);
  }
  return joined;
}
