import { ConfigError } from '../config/values.ts';
import type { Provider } from '../feeds/provider.ts';
import { nearestCodes } from '../market/search/similar-codes.ts';
import { VERSION } from '../runtime/version.ts';
import { loadCommands } from './commands.ts';
import { type Command, readCall, UsageError } from './framework/command.ts';
import { printLine, printMessage } from './framework/print-line.ts';
import { reasonOf } from './framework/reason.ts';
import { outputWidth } from './framework/wrap.ts';
import { helpOf, listOf, nextSteps, overview } from './help/help.ts';

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
    printLine(nextSteps(outputWidth(process.stdout)));
    return 2;
  }
  if (first === 'help' && rest.length > 0) return run([...rest, '--help'], providers);
  if (first === '--help' || first === '-h' || first === 'help') {
    printLine(overview(await loadCommands(), outputWidth(process.stdout)));
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
  if (call === 'help') printLine(helpOf(command, outputWidth(process.stdout)));
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
    printLine(listOf(group, outputWidth(process.stdout)));
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

function wordsOf(name: string): number {
  return name.split(' ').length;
}
