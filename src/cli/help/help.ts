import { flagOf, SETTINGS } from '../../config/settings.ts';
import { VERSION } from '../../runtime/version.ts';
import { type Command, LEDGER_SETTINGS, requiredFlags } from '../framework/command.ts';
import { definitions, wrap } from '../framework/wrap.ts';

const TITLE = `openpit ${VERSION}: an open commodity rates service`;

/** The help of a command. Its examples are not wrapped, to be copied. */
export function helpOf(command: Command, width: number): string {
  const { name, summary, details, operands = [], examples = [], flags } = command;
  const required = requiredFlags(command).map((flag) => `--${flag} ${flags[flag]!.value}`);
  const usage = ['Usage: openpit', name, ...operands, ...required, '[options]'].join(' ');
  const sections = [wrap(`${summary}.`, width), wrap(usage, width, '    ')];
  if (details !== undefined) sections.push(wrap(details, width));
  const options = Object.entries(flags).map(([flag, { value, short, help }]): [string, string] => {
    const names = short === undefined ? `--${flag}` : `-${short}, --${flag}`;
    return [value === undefined ? names : `${names} ${value}`, help];
  });
  sections.push(`Options:\n${definitions([...options, ['-h, --help', 'Show this help']], width)}`);
  const settings = (command.settings ?? LEDGER_SETTINGS).map((env): [string, string] => {
    const { help, default: fallback } = SETTINGS.find((setting) => setting.env === env)!;
    return [`--${flagOf(env)} VALUE`, `${help} [${env}${fallback === '' ? '' : `, default ${fallback}`}]`];
  });
  if (settings.length > 0)
    sections.push(
      `${wrap('Settings, as options or environment variables:', width)}\n${definitions(settings, width)}`,
    );
  if (examples.length > 0)
    sections.push(`Examples:\n${examples.map((example) => `  openpit ${example}`).join('\n')}`);
  return sections.join('\n\n');
}

/** The help of the program: all commands. */
export function overview(commands: readonly Command[], width: number): string {
  const end = 'Run openpit COMMAND --help for the options of a command.';
  const sections = [
    wrap(TITLE, width),
    'Usage: openpit COMMAND [options]',
    listOf(commands, width),
    wrap(end, width),
  ];
  return sections.join('\n\n');
}

/** Commands, each with its summary. */
export function listOf(commands: readonly Command[], width: number): string {
  return definitions(
    commands.map(({ name, operands = [], summary }) => [[name, ...operands].join(' '), summary]),
    width,
  );
}

/** What is printed without a command. */
export function nextSteps(width: number): string {
  const end = 'openpit help lists all commands, openpit help COMMAND explains one.';
  return [wrap(TITLE, width), definitions(STEPS, width), wrap(end, width)].join('\n\n');
}

const STEPS: readonly (readonly [command: string, effect: string])[] = [
  ['openpit serve', 'start a server; the first start fills it with simulated prices'],
  ['openpit latest XAU WTIOIL-FUT', 'query the ledger on this machine, or a server with --url'],
  ['openpit feed enable --all', 'fetch real prices from public sources'],
  ['openpit import FILE', 'add prices of your own'],
  ['openpit account create --help', 'give a customer a key'],
  ['openpit doctor', 'diagnose this installation'],
];
