import { flagOf } from '../../config/settings.ts';
import { type Command, LEDGER_SETTINGS, UsageError } from '../framework/command.ts';
import { printLine } from '../framework/print-line.ts';

/** What can follow a beginning of a command line. */
interface Completions {
  /** The words typed so far, joined by spaces; empty at the start. */
  after: string;
  words: readonly string[];
}

const SHELLS: Readonly<Record<string, (completions: readonly Completions[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** `openpit completion SHELL`: a script that completes commands and options with the Tab key. */
export function completionCommand(commands: () => Promise<readonly Command[]>): Command {
  return {
    name: 'completion',
    operands: ['SHELL'],
    ledgerOptional: true,
    summary: 'Print a script that completes commands in bash, zsh or fish',
    details:
      'bash: source <(openpit completion bash), for example in ~/.bashrc. zsh: openpit completion zsh > "$fpath[1]/_openpit". fish: openpit completion fish > ~/.config/fish/completions/openpit.fish.',
    examples: ['completion bash'],
    flags: {},
    settings: [],
    async run({ operands }) {
      const shell = operands[0]!;
      const script = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
      if (!script) throw new UsageError(`openpit completion takes bash, zsh or fish (received ${shell})`);
      printLine(script(completionsOf(await commands())));
    },
  };
}

/** For each beginning of a command its next words, and for each whole command its options. */
function completionsOf(commands: readonly Command[]): Completions[] {
  const byBeginning = new Map<string, Set<string>>([['', new Set()]]);
  const add = (after: string, word: string) =>
    byBeginning.getOrInsertComputed(after, () => new Set()).add(word);
  for (const command of commands) {
    const words = command.name.split(' ');
    for (const [i, word] of words.entries()) add(words.slice(0, i).join(' '), word);
    for (const option of optionsOf(command)) add(command.name, option);
  }
  for (const word of ['help', '--help', '--version']) add('', word);
  return [...byBeginning].map(([after, words]) => ({ after, words: [...words] }));
}

function optionsOf({ flags, settings = LEDGER_SETTINGS }: Command): string[] {
  return [...Object.keys(flags), ...settings.map(flagOf), 'help'].map((name) => `--${name}`);
}

/**
 * The longest beginning of the line that has a row chooses it. After an operand or an option, only the row's options are
 * offered; where none fits, bash completes names of files.
 */
function bashScript(completions: readonly Completions[]): string {
  return `# bash completion of openpit
_openpit_words() {
  case "$1" in
${completions.map(({ after, words }) => `    ${quote(after)}) words=${quote(words.join(' '))} ;;`).join('\n')}
    *) return 1 ;;
  esac
}
_openpit() {
  local before="" offered="*" word words
  _openpit_words ""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if ! _openpit_words "\${before:+$before }$word"; then offered="--*"; break; fi
    before="\${before:+$before }$word"
  done
  COMPREPLY=($(compgen -W "$words" -X "!$offered" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _openpit openpit`;
}

function zshScript(completions: readonly Completions[]): string {
  return `#compdef openpit
_openpit_words() {
  case "$1" in
${completions.map(({ after, words }) => `    ${quote(after)}) offered=(${words.join(' ')}) ;;`).join('\n')}
    *) return 1 ;;
  esac
}
local before="" word
local -a offered
_openpit_words ""
for word in "\${(@)words[2,CURRENT-1]}"; do
  if ! _openpit_words "\${before:+$before }$word"; then offered=(\${(M)offered:#--*}); break; fi
  before="\${before:+$before }$word"
done
compadd -- $offered || _files`;
}

function fishScript(completions: readonly Completions[]): string {
  const lines = completions.map(({ after, words }) => {
    const condition = `__openpit_after "${after}"`;
    // Without -f, fish also completes names of files: whole commands may take some, the first words of others do not.
    const only = words.includes('--help') && after !== '' ? '' : ' -f';
    return `complete -c openpit${only} -n ${quote(condition)} -a ${quote(words.join(' '))}`;
  });
  return `# fish completion of openpit
function __openpit_after
  set -l rows ${completions.map(({ after }) => quote(after)).join(' ')}
  set -l words (commandline -opc)
  set -l before ''
  for word in $words[2..]
    set -l longer (string trim -- "$before $word")
    contains -- "$longer" $rows; or break
    set before "$longer"
  end
  test "$before" = "$argv[1]"
end
${lines.join('\n')}`;
}

/** For a POSIX shell, zsh and fish: no word of ours contains a quote. */
function quote(text: string): string {
  return `'${text}'`;
}
