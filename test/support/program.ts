import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '..', '..');

/** The environment without Openpit's settings of the person who runs the tests. */
function environment(settings: Record<string, string>): Record<string, string> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('OPENPIT_'));
  return { ...Object.fromEntries(inherited), ...settings } as Record<string, string>;
}

export interface Finished {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/**
 * How the program is started: from source, or the single-file build that OPENPIT_TEST_PROGRAM names. `npm test` runs most
 * process tests on the build, and those of starting it both ways.
 */
const SINGLE_FILE = process.env.OPENPIT_TEST_PROGRAM;
const PROGRAM: readonly string[] = SINGLE_FILE ? [SINGLE_FILE] : [process.execPath, 'src/main.ts'];

/** The same for a shell in any folder. */
export const PROGRAM_COMMAND: readonly string[] = SINGLE_FILE
  ? [SINGLE_FILE]
  : [process.execPath, join(ROOT, 'src/main.ts')];

/** Starts one command of the program, or of a script that runs it with other providers; `wrapper` is a command that starts it. */
export function spawnOpenpit(
  args: readonly string[],
  settings: Record<string, string>,
  script?: string,
  wrapper: readonly string[] = [],
): Bun.Subprocess<'ignore', 'pipe', 'pipe'> {
  const program = script === undefined ? PROGRAM : [process.execPath, script];
  return Bun.spawn([...wrapper, ...program, ...args], {
    cwd: ROOT,
    env: environment(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs a command on a terminal. */
export function openpitOnTerminal(
  args: readonly string[],
  settings: Record<string, string>,
  terminal: Bun.TerminalOptions,
): Bun.Subprocess {
  return Bun.spawn([...PROGRAM, ...args], {
    cwd: ROOT,
    env: { ...environment(settings), TERM: 'xterm-256color' },
    terminal,
  });
}

/** Runs one command to its end. */
export async function openpit(
  args: readonly string[],
  settings: Record<string, string>,
  script?: string,
  wrapper: readonly string[] = [],
): Promise<Finished> {
  const child = spawnOpenpit(args, settings, script, wrapper);
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exitCode, stdout, stderr };
}

/** What to start, and where. */
interface Build {
  command: readonly string[];
  cwd: string;
}

const DEFAULT_BUILD: Build = { command: PROGRAM, cwd: ROOT };

/** The real program, serving, as a child process. */
export class Program {
  readonly #child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>;
  readonly exited: Promise<number>;
  stdout = '';
  stderr = '';
  url = '';
  key = '';
  /** The CA of the program's certificate, if it serves HTTPS. */
  readonly #ca: string | undefined;

  private constructor(settings: Record<string, string>, { command, cwd }: Build) {
    this.#child = Bun.spawn([...command, 'serve'], {
      cwd,
      env: environment({ OPENPIT_PORT: '0', ...settings }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.exited = this.#child.exited;
    const { OPENPIT_TLS_CERT: certificate } = settings;
    this.#ca = certificate === undefined ? undefined : readFileSync(certificate, 'utf8');
  }

  /** Starts it and waits until it prints its URL. `onLog` is called with all of its log whenever there is more. */
  static async start(
    settings: Record<string, string>,
    build: Build = DEFAULT_BUILD,
    onLog: (log: string) => void = () => {},
  ): Promise<Program> {
    const program = new Program(settings, build);
    const listening = Promise.withResolvers<void>();
    void program.#read(program.#child.stderr, (text) => {
      program.stderr += text;
      onLog(program.stderr);
    });
    void program.#read(program.#child.stdout, (text) => {
      program.stdout += text;
      program.url = /listens on (https?:\/\/[^\s,]+)/.exec(program.stdout)?.[1] ?? '';
      program.key = /Demo key: (\S+)/.exec(program.stdout)?.[1] ?? '';
      if (
        program.stdout.includes('\n') &&
        program.url &&
        /Try it:.*\n|Create a key:.*\n/.test(program.stdout)
      ) {
        listening.resolve();
      }
    });
    await Promise.race([
      listening.promise,
      program.exited.then((code) => {
        throw new Error(`the program ended with ${code}: ${program.stderr}`);
      }),
    ]);
    return program;
  }

  get pid(): number {
    return this.#child.pid;
  }

  get(path: string, key = this.key): Promise<Response> {
    return this.fetch(path, key ? { headers: { 'x-api-key': key } } : {});
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(this.url + path, this.#ca === undefined ? init : { ...init, tls: { ca: this.#ca } });
  }

  /** Reads /metrics, with the admin token if there is one. */
  async metrics(token?: string): Promise<string> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return (await this.fetch('/metrics', { headers })).text();
  }

  /** Sends a signal and waits for the end. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
    this.#child.kill(signal);
    return this.exited;
  }

  async #read(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of stream) take(decoder.decode(bytes, { stream: true }));
  }
}

/** The timeout of a wait. Far longer than anything takes, even on a busy machine. */
const WAIT_MS_MAX = 60_000;

/** Polls until the condition holds, and returns how long that took, in ms. Throws when it does not hold in time. */
export async function eventually(wanted: () => Promise<boolean>, withinMs = WAIT_MS_MAX): Promise<number> {
  const start = performance.now();
  for (;;) {
    if (await wanted()) return performance.now() - start;
    if (performance.now() - start > withinMs) throw new Error(`not so within ${withinMs} ms`);
    await Bun.sleep(20);
  }
}
