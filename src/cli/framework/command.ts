import { parseArgs } from 'node:util';
import { flagOf, type SettingName } from '../../config/settings.ts';
import { unknownSettingText } from '../../config/warnings.ts';
import { type Config, readConfig, readUsableConfig } from '../../config.ts';
import { fileExists } from '../../ledger/inspection/file-exists.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { nearestCodes } from '../../market/search/similar-codes.ts';
import { systemClock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/log/log.ts';
import { isPlainText, NOT_PLAIN } from '../../runtime/plain-text.ts';
import { commandLineUser } from './actor.ts';
import { missingLedger } from './existing-ledger.ts';
import { printMessage } from './print-line.ts';

/** An option of a command. `value` names its argument; an option without one is a switch. */
export interface Flag {
  value?: string;
  /** A single letter that stands for it. */
  short?: string;
  /** Whether the command cannot run without it. */
  required?: true;
  /** Whether it may be given several times. Of any other option, the last value counts. */
  multiple?: true;
  help: string;
}

export interface Command {
  /** The words that invoke it, for example `account create`. */
  name: string;
  /** The arguments after the name, for example `FILE`; `[FILE]` is optional, and `SYMBOL...` can be repeated. */
  operands?: readonly string[];
  /** One line, in the imperative. */
  summary: string;
  /** What the user should know before running it. */
  details?: string;
  /** Command lines, without `openpit`. */
  examples?: readonly string[];
  flags: Readonly<Record<string, Flag>>;
  /** The settings it accepts as options; by default those that locate the ledger. */
  settings?: readonly SettingName[];
  /**
   * Whether it creates a ledger where there is none: in any place, or only in one that the user has named. Other commands
   * would create an empty one in a mistyped place, and report success.
   */
  createsLedger?: 'anywhere' | 'where named';
  /** Whether it can work without a ledger. Where it needs one after all, it checks that there is one. */
  ledgerOptional?: true;
  /** Whether it runs with invalid settings, which are replaced by their defaults, and without a ledger. */
  toleratesAnything?: true;
  run(call: CommandCall): Promise<void>;
}

/** One invocation of a command, with its options parsed. */
export interface CommandCall {
  operands: readonly string[];
  config: Config;
  /** Messages about invalid settings, for a command that tolerates them. */
  settingErrors: readonly string[];
  /** The value of an option, if it was given. */
  flag(name: string): string | undefined;
  /** The values of an option that may be given several times. */
  all(name: string): readonly string[];
  /** The value of a required option. */
  required(name: string): string;
  isSet(name: string): boolean;
  /** The value of an environment variable that an option names. */
  environment(name: string): string | undefined;
  /** Opens the ledger for `work`, and closes it afterwards. Without a ledger, it is created or refused, as the command says. */
  withLedger<T>(work: (ledger: Ledger) => Promise<T>): Promise<T>;
}

/** An incorrect invocation: one line of explanation, exit code 2. */
export class UsageError extends Error {}

/** The settings that locate the ledger. */
export const LEDGER_SETTINGS: readonly SettingName[] = ['OPENPIT_DATA_DIR', 'OPENPIT_DATABASE_URL'];

export const JSON_FLAG: Readonly<Record<string, Flag>> = { json: { help: 'Print JSON' } };

/** Confirms a deletion. */
export const YES_FLAG: Readonly<Record<string, Flag>> = { yes: { help: 'Confirm: this cannot be undone' } };

/** Refuses a deletion that was not confirmed. */
export function requireYes(call: CommandCall, what: string): void {
  if (!call.isSet('yes')) throw new UsageError(`this would permanently delete ${what}; add --yes to confirm`);
}

export function readCall(command: Command, args: readonly string[]): CommandCall | 'help' {
  const options: OptionTypes = { help: { type: 'boolean', short: 'h' } };
  for (const [name, { value, short, multiple = false }] of Object.entries(command.flags)) {
    options[name] = { type: value === undefined ? 'boolean' : 'string', multiple, ...(short && { short }) };
  }
  const taken = command.settings ?? LEDGER_SETTINGS;
  for (const env of taken) options[flagOf(env)] = { type: 'string' };
  const { values, positionals } = parse(command.name, args, options);
  if (values.help) return 'help';
  const expected = command.operands ?? [];
  const least = expected.filter((operand) => !operand.startsWith('[')).length;
  const most = expected.at(-1)?.includes('...') ? Number.POSITIVE_INFINITY : expected.length;
  if (positionals.length < least || positionals.length > most) {
    const takes = expected.length === 0 ? 'takes no arguments' : `takes ${expected.join(' ')}`;
    const received = positionals.length === 0 ? 'nothing' : positionals.join(' ');
    const advice = positionals.length > most ? optionsAdvice(command) : '';
    throw new UsageError(`openpit ${command.name} ${takes} (received ${received})${advice}`);
  }
  const flag = (name: string) => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  const missing = requiredFlags(command).filter((name) => !flag(name));
  if (missing.length > 0)
    throw new UsageError(`openpit ${command.name} requires ${missing.map((name) => `--${name}`).join(', ')}`);
  const empty = LEDGER_SETTINGS.map(flagOf).find((name) => flag(name)?.trim() === '');
  // A shell variable that is not set: the default would be another ledger than the one that was meant.
  if (empty !== undefined) throw new UsageError(`--${empty} must not be empty`);
  const settings = Object.fromEntries(taken.map((env) => [flagOf(env), flag(flagOf(env))]));
  const { config, errors } = command.toleratesAnything
    ? readUsableConfig(process.env, settings)
    : { config: readConfig(process.env, settings), errors: [] };
  const { createsLedger, ledgerOptional, toleratesAnything } = command;
  if (!command.settings) warnOfMisspelledLedger(config);
  if (createsLedger !== 'anywhere' && !ledgerOptional && !toleratesAnything) requireLedger(config);
  return {
    operands: positionals,
    config,
    settingErrors: errors,
    flag,
    all(name) {
      const given = values[name];
      return Array.isArray(given) ? given.map(String) : [];
    },
    required(name) {
      const value = flag(name);
      if (value === undefined) throw new Error(`--${name} is not declared as required`);
      return value;
    },
    isSet: (name) => values[name] === true,
    environment: (name) => process.env[name],
    withLedger: (work) => withLedger(config, createsLedger !== undefined, work),
  };
}

/** A command would use another ledger than the one that was meant, and report success. */
function warnOfMisspelledLedger({ unknownSettings }: Config): void {
  for (const unknown of unknownSettings) {
    const isLedgers = LEDGER_SETTINGS.some((setting) => setting === unknown.meant);
    if (isLedgers) printMessage(`openpit: ${unknownSettingText(unknown)}`);
  }
}

/** The options without which the command cannot run. */
export function requiredFlags({ flags }: Command): string[] {
  return Object.keys(flags).filter((name) => flags[name]!.required);
}

/** For arguments that were probably meant as values of options. */
function optionsAdvice({ name: command, flags }: Command): string {
  const options = Object.entries(flags).flatMap(([name, { value }]) =>
    value === undefined ? [] : `--${name} ${value}`,
  );
  if (options.length === 0) return '';
  if (options.length > OPTIONS_NAMED_MAX) return `; openpit ${command} --help lists its options`;
  return `; its options are ${options.join(', ')}`;
}

/** More would make the message longer than the help. */
const OPTIONS_NAMED_MAX = 5;

/** An option as a whole number within bounds; undefined when it was not given. `or` is what else it may be. */
export function wholeFlag(
  call: CommandCall,
  name: string,
  min: number,
  max: number,
  or = '',
): number | undefined {
  const text = call.flag(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new UsageError(`--${name} must be ${or}a whole number from ${min} to ${max} (received "${text}")`);
}

/** The only operand, as the number of something in the ledger. */
export function numberOperand({ operands }: CommandCall, name: string): number {
  const text = operands[0]!;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`${name} must be a number of at most 9 digits (received "${text}")`);
}

/** The text of an option, such as a name, within the limits of the API. */
export function plainName(option: string, value: string, charactersMax = 200): string {
  const text = value.trim();
  if (text === '') throw new UsageError(`${option} must not be empty`);
  if (!isPlainText(text)) throw new UsageError(`${option} ${NOT_PLAIN}`);
  if (text.length <= charactersMax) return text;
  throw new UsageError(`${option} may have at most ${charactersMax} characters (received ${text.length})`);
}

/** Rows in aligned columns. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, Bun.stringWidth(cell));
  }
  const padded = (cell: string, width: number) => cell + ' '.repeat(width - Bun.stringWidth(cell));
  return rows
    .map(
      (row) =>
        `  ${row.map((cell, i) => (i === row.length - 1 ? cell : padded(cell, widths[i]!))).join('  ')}`,
    )
    .join('\n');
}

/** A mistyped folder must not create a ledger that the server does not use. */
function requireLedger({ ledgerGiven, databaseUrl, dataDir }: Config): void {
  if (ledgerGiven || fileExists(databaseUrl)) return;
  throw new UsageError(
    `there is no ledger in ${dataDir}; set its location with --data-dir or --database-url (OPENPIT_DATA_DIR, OPENPIT_DATABASE_URL)`,
  );
}

async function withLedger<T>(
  config: Config,
  mayCreate: boolean,
  work: (ledger: Ledger) => Promise<T>,
): Promise<T> {
  const missing = mayCreate ? undefined : await missingLedger(config);
  if (missing !== undefined) throw new UsageError(missing);
  const { Ledger } = await import('../../ledger/ledger.ts');
  const ledger = await Ledger.open(config.databaseUrl, systemClock);
  try {
    return await work(ledger.as(commandLineUser()));
  } finally {
    await ledger.close();
  }
}

type OptionTypes = Record<string, { type: 'string' | 'boolean'; multiple?: boolean; short?: string }>;

function parse(name: string, args: readonly string[], options: OptionTypes) {
  try {
    return parseArgs({
      args: joinNegatives(args),
      options,
      allowPositionals: true,
      strict: true,
      tokens: true,
    });
  } catch (error) {
    const [what = ''] = messageOf(error).split(/\. |\n/);
    const unknown = /^Unknown option '(.+)'$/.exec(what)?.[1];
    const help = `openpit ${name} --help lists the options`;
    if (unknown === undefined) throw new UsageError(`${what}; ${help}`);
    const [meant] = nearestCodes(unknown.replace(/^-+/, ''), Object.keys(options), 1);
    const question = meant === undefined ? ';' : `; did you mean --${meant}?`;
    throw new UsageError(`there is no option ${unknown}${question} ${help}`);
  }
}

/** Turns `--quota -5` into `--quota=-5`, so that the message is about the number and not about an unknown option. */
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
