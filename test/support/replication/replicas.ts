import { freePort } from '../http/free-port.ts';
import { newFolder } from '../ledger.ts';
import { Program } from '../program.ts';

/** The operator's token, on every replica. */
export const ADMIN_TOKEN = 'a-token-for-the-operator';

/** Several replicas of the real program on one PostgreSQL, each with its own data folder. */
export class Replicas {
  readonly #settings: Record<string, string>[];
  readonly programs: Program[] = [];

  constructor(databaseUrl: string, count: number, settings: Record<string, string> = {}) {
    this.#settings = Array.from({ length: count }, () => ({
      OPENPIT_DATABASE_URL: databaseUrl,
      OPENPIT_DATA_DIR: newFolder(),
      OPENPIT_DEMO: 'false',
      OPENPIT_PORT: String(freePort()), // the same after a restart
      OPENPIT_ADMIN_TOKEN: ADMIN_TOKEN,
      ...settings,
    }));
  }

  /** The settings for commands on the same ledger. */
  get settings(): Record<string, string> {
    return this.#settings[0]!;
  }

  get urls(): string[] {
    return this.programs.map((program) => program.url);
  }

  /** Starts all at the same time: one of them creates the ledger. */
  async start(): Promise<void> {
    this.programs.push(...(await Promise.all(this.#settings.map((settings) => Program.start(settings)))));
  }

  /** Stops one and restarts it with its own folder. */
  async restart(index: number, signal: NodeJS.Signals): Promise<void> {
    await this.programs[index]!.end(signal);
    this.programs[index] = await Program.start(this.#settings[index]!);
  }

  async end(): Promise<void> {
    await Promise.all(this.programs.map((program) => program.end('SIGKILL')));
  }
}
