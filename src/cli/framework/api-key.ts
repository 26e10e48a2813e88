import { type CommandCall, UsageError } from './command.ts';

/** The API key in an environment variable; undefined if there is none. */
export function apiKeyIn(call: CommandCall, name: string): string | undefined {
  const key = call.environment(name)?.trim();
  if (!key) return undefined;
  if (/^[!-~]+$/.test(key)) return key;
  throw new UsageError(
    `the environment variable ${name} contains a character that cannot occur in an API key, such as a space or a line break`,
  );
}
