import { join } from 'node:path';
import { browserPath, openBrowser } from '../browser/browser.ts';
import { newFolder } from '../support/ledger.ts';
import { bundledClient } from './bundled-client.ts';
import { listen, sendOnce, sendRequests } from './scenario.ts';

const scenario = { listen, sendOnce, sendRequests };
type Scenario = typeof scenario;

/** Runs one function of the scenario in a runtime. */
export interface ScenarioRuntime {
  name: string;
  run<N extends keyof Scenario>(
    name: N,
    argument: Parameters<Scenario[N]>[0],
  ): Promise<Awaited<ReturnType<Scenario[N]>>>;
}

/** Every runtime that this machine has. */
export async function runtimes(): Promise<ScenarioRuntime[]> {
  const all: [runtime: ScenarioRuntime, path: string | null | undefined][] = [
    [bun, process.execPath],
    [node, Bun.which('node')],
    [deno, Bun.which('deno')],
    [chromium, await browserPath()],
    [python, Bun.which('python3')],
  ];
  for (const [{ name }, path] of all) {
    if (!path) console.warn(`SKIPPED: the client in ${name}, which is not installed`);
  }
  return all.filter(([, path]) => path).map(([runtime]) => runtime);
}

const bun: ScenarioRuntime = {
  name: 'Bun',
  run: (name, argument) => scenario[name](argument as never) as never,
};

const node: ScenarioRuntime = {
  name: 'Node',
  run: (name, argument) => runBundled(['node'], name, argument),
};

const deno: ScenarioRuntime = {
  name: 'Deno',
  run: (name, argument) => runBundled(['deno', 'run', '--allow-net'], name, argument),
};

/** On a page of another origin, as in an application of a customer. */
const chromium: ScenarioRuntime = {
  name: 'Chromium',
  async run(name, argument) {
    using origin = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('a page') });
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(origin.url.href);
      return await page.evaluate(
        async ([code, name, argument]) => {
          const module = await import(`data:text/javascript,${encodeURIComponent(code)}`);
          return module[name](argument);
        },
        [await bundledScenario(), name, argument] as const,
      );
    } finally {
      await browser.close();
    }
  },
};

/** The client in Python, with a scenario of its own. */
const python: ScenarioRuntime = {
  name: 'Python',
  async run(name, argument) {
    const script = join(import.meta.dir, 'scenario.py');
    return JSON.parse(await outputOf(['python3', '-B', script, name, JSON.stringify(argument)]));
  },
};

/** Runs a function of the bundled scenario with a command that takes a file. */
async function runBundled<T>(command: readonly string[], name: string, argument: unknown): Promise<T> {
  const folder = newFolder();
  await Bun.write(join(folder, 'scenario.mjs'), await bundledScenario());
  const file = join(folder, 'run.mjs');
  await Bun.write(
    file,
    `import { ${name} } from './scenario.mjs';
    console.log(JSON.stringify(await ${name}(${JSON.stringify(argument)})));`,
  );
  return JSON.parse(await outputOf([...command, file]));
}

async function outputOf(command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [text, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(errors);
  return text;
}

function bundledScenario(): Promise<string> {
  return bundledClient({ entry: join(import.meta.dir, 'scenario.ts') });
}
