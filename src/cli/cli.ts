import { ConfigError } from '../config/values.ts';
import type { Provider } from '../feeds/provider.ts';
import { nearestCodes } from '../market/search/similar-codes.ts';
import { VERSION } from '../runtime/version.ts';
import { loadCommands } from './commands.ts';
import { type Command, helpOf, readCall, table, UsageError } from './framework/command.ts';
import { printLine, printMessage } from './framework/print-line.ts';
import { reasonOf } from './framework/reason.ts';

/** Runs one command line. Returns the exit code: 0 success, 1 failure, 2 incorrect usage. */
export async function runCli(args: readonly string[], providers?: readonly Provider[]): Promise<number> {
  try {
    return await run(args, providers);
  } catch (error) {
    printMessage(`openpit: ${reasonOf(error)}`);
    return error instanceof UsageError || error instanceof ConfigError ? 2 : 1;
  }
}

async function run(args: readonly string[], providers?: readonly Provider[]): Promise<number> {
  const [first, ...rest] = args;
  if (first === undefined) {
    printLine(NEXT_STEPS);
    return 2;
  }
  if (first === 'help' && rest.length > 0) return run([...rest, '--help'], providers);
  if (first === '--help' || first === '-h' || first === 'help') {
    printLine(overview(await loadCommands()));
    return 0;
  }
  if (first === '--version' || first === '-v') {
    printLine(VERSION);
    return 0;
  }
  const commands = await loadCommands(first, providers);
  const matching = commands.filter(({ name }) => name === args.slice(0, wordsOf(name)).join(' '));
  const command = matching.toSorted((a, b) => wordsOf(b.name) - wordsOf(a.name))[0]; // `import undo` before `import`
  if (!command) return unknown(args, commands);
  const call = readCall(command, args.slice(wordsOf(command.name)));
  if (call === 'help') printLine(helpOf(command));
  else await command.run(call);
  return 0;
}

/** For a group such as `account` without its second word, or an unknown command. */
function unknown(args: readonly string[], commands: readonly Command[]): number {
  const groupOf = (words: readonly string[]) =>
    commands.filter(({ name }) => name.startsWith(`${words.join(' ')} `));
  const words = args.filter((arg) => !arg.startsWith('-'));
  const group = groupOf(words);
  if (group.length > 0) {
    printLine(table(group.map(rowOf)));
    return args.includes('--help') || args.includes('-h') ? 0 : 2;
  }
  if (args[0]!.startsWith('-'))
    throw new UsageError(`there is no option ${args[0]} before a command; openpit --help lists the commands`);
  const known = words.findIndex((_, i) => groupOf(words.slice(0, i + 1)).length === 0);
  const given = words.slice(0, known + 1).join(' ');
  const help = ['openpit', ...words.slice(0, known), '--help'].join(' ');
  const [meant] = nearestCodes(given, beginnings(commands, known + 1), 1);
  const question = meant === undefined ? ';' : `; did you mean "${meant}"?`;
  throw new UsageError(`there is no command "${given}"${question} ${help} lists the commands`);
}

/** The first words of all commands. */
function beginnings(commands: readonly Command[], words: number): Set<string> {
  return new Set(commands.map(({ name }) => name.split(' ').slice(0, words).join(' ')));
}

const NEXT_STEPS = `openpit ${VERSION}: an open commodity rates service

  openpit serve                     start a server; the first start fills it with simulated prices
  openpit latest XAU WTIOIL-FUT     query the ledger on this machine, or a server with --url
  openpit feed enable --all         fetch real prices from public sources
  openpit import FILE               add prices of your own
  openpit account create --help     give a customer a key
  openpit doctor                    diagnose this installation

openpit help lists all commands, openpit help COMMAND explains one.`;

function overview(commands: readonly Command[]): string {
  const rows = commands.map(rowOf);
  return `openpit ${VERSION}: an open commodity rates service\n\nUsage: openpit COMMAND [options]\n\n${table(rows)}\n\nRun openpit COMMAND --help for the options of a command.`;
}

function rowOf({ name, operands = [], summary }: Command): string[] {
  return [[name, ...operands].join(' '), summary];
}

function wordsOf(name: string): number {
  return name.split(' ').length;
}
