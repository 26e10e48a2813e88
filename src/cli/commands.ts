import type { Provider } from '../feeds/provider.ts';
import type { Command } from './framework/command.ts';

/**
 * Loads the commands that begin with a word. `providers` are those of the feed commands; by default all that are built in.
 */
type Load = (providers?: readonly Provider[]) => Promise<readonly Command[]>;

/**
 * All commands by their first word, in the order of the overview. An invocation loads only its own: loading the whole program
 * takes half a second of CPU time, and most commands need a tenth of that.
 */
const COMMANDS: Readonly<Record<string, Load>> = {
  serve: async () => [(await import('./serve/serve.ts')).serveCommand],
  import: async () => [
    (await import('./import/import.ts')).importCommand,
    ...(await import('./import/undo.ts')).importRunCommands,
  ],
  export: async () => [(await import('./export/export.ts')).exportCommand],
  feed: async (providers) => [
    ...(await import('./feeds/feed.ts')).feedCommands(providers ?? (await builtInProviders())),
    ...(await import('./commands/quarantine.ts')).quarantineCommands('feed quarantine'),
  ],
  sample: async (providers) =>
    (await import('./commands/sample.ts')).sampleCommands(providers ?? (await builtInProviders())),
  quarantine: async () => (await import('./commands/quarantine.ts')).quarantineCommands('quarantine'),
  bars: async () => (await import('./commands/bars.ts')).barsCommands,
  symbols: async () => [
    ...(await import('./symbols/symbols.ts')).symbolsCommands,
    ...(await import('./formulas/formulas.ts')).formulaCommands,
  ],
  account: async () => (await import('./commands/account.ts')).accountCommands,
  plan: async () => (await import('./commands/plan.ts')).planCommands,
  key: async () => (await import('./commands/key.ts')).keyCommands,
  webhook: async () => [(await import('./commands/webhook.ts')).webhookCommand],
  audit: async () => [(await import('./commands/audit.ts')).auditCommand],
  check: async () => [(await import('./commands/check.ts')).checkCommand],
  latest: async () => [(await import('./client/latest.ts')).latestCommand],
  history: async () => [(await import('./client/history.ts')).historyCommand],
  watch: async () => [(await import('./client/watch.ts')).watchCommand],
  mcp: async () => [(await import('./client/mcp.ts')).mcpCommand],
  compare: async () => [(await import('./compare/compare.ts')).compareCommand],
  doctor: async (providers) => [
    (await import('./doctor/doctor.ts')).doctorCommand(providers ?? (await builtInProviders())),
  ],
  migrate: async () => [(await import('./commands/migrate.ts')).migrateCommand],
  backup: async () => [(await import('./commands/backup.ts')).backupCommand],
  restore: async () => [(await import('./commands/backup.ts')).restoreCommand],
  move: async () => [(await import('./move/move.ts')).moveCommand],
  completion: async () => [
    (await import('./completion/completion.ts')).completionCommand(() => loadCommands()),
  ],
};

/** The commands that begin with this word; without one, or if there are none, all of them. */
export async function loadCommands(
  firstWord = '',
  providers?: readonly Provider[],
): Promise<readonly Command[]> {
  if (Object.hasOwn(COMMANDS, firstWord)) return COMMANDS[firstWord]!(providers);
  const groups = await Promise.all(Object.values(COMMANDS).map((load) => load(providers)));
  return groups.flat();
}

async function builtInProviders(): Promise<readonly Provider[]> {
  return (await import('../feeds/providers/index.ts')).PROVIDERS;
}
