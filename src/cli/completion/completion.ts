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
export function completionCommand(commands: () => readonly Command[]): Command {
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
      printLine(script(completionsOf(commands())));
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

/** The words before the cursor that are not options choose the row. */
function bashScript(completions: readonly Completions[]): string {
  return `# bash completion of openpit
_openpit() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && break
    before="\${before:+$before }$word"
  done
  local words=""
  case "$before" in
${completions.map(({ after, words }) => `    ${quote(after)}) words=${quote(words.join(' '))} ;;`).join('\n')}
  esac
  if [[ -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$current"))
  else COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -o default -F _openpit openpit`;
}

function zshScript(completions: readonly Completions[]): string {
  return `#compdef openpit
local before="" word
for word in "\${(@)words[2,CURRENT-1]}"; do
  [[ $word == -* ]] && break
  before="\${before:+$before }$word"
done
case "$before" in
${completions.map(({ after, words }) => `  ${quote(after)}) compadd -- ${words.join(' ')} ;;`).join('\n')}
  *) _files ;;
esac`;
}

function fishScript(completions: readonly Completions[]): string {
  const lines = completions.map(({ after, words }) => {
    const condition = `__openpit_after ${quote(after)}`;
    return `complete -c openpit -f -n ${quote(condition)} -a ${quote(words.join(' '))}`;
  });
  return `# fish completion of openpit
function __openpit_after
  set -l words (commandline -opc)
  set -l before
  for word in $words[2..]
    string match -q -- '-*' $word; and break
    set -a before $word
  end
  test "$before" = "$argv[1]"
end
${lines.join('\n')}`;
}

/** For a POSIX shell, zsh and fish: no word of ours contains a quote. */
function quote(text: string): string {
  return `'${text}'`;
}
