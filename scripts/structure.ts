import { dirname, join, relative } from 'node:path';

/**
 * Imports point one way:  market ← ledger ← {board, feeds, gate} ← api ← service ← cli
 * For each folder of src/, the folders it may import from. The files at the top of src/ stand for themselves.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  market: [],
  runtime: [],
  http: ['runtime'],
  config: ['runtime', 'gate', 'market'],
  'config.ts': ['runtime', 'config'],
  ledger: ['market', 'runtime'],
  board: ['market', 'ledger', 'runtime'],
  feeds: ['market', 'ledger', 'runtime'],
  gate: ['ledger', 'runtime'],
  api: ['http', 'market', 'ledger', 'board', 'gate', 'console', 'client', 'mcp', 'runtime'],
  client: ['market', 'runtime', '..'], // openpit-client, the package
  mcp: ['client', 'market'],
  console: ['..'], // openpit-client, the package
  setup: ['ledger', 'gate', 'config', 'config.ts'],
  ops: ['api', 'board', 'gate', 'http', 'ledger', 'runtime', 'config'],
  doctor: ['ledger', 'feeds', 'gate', 'http', 'ops', 'runtime', 'config', 'config.ts'],
  service: [
    'market',
    'ledger',
    'board',
    'feeds',
    'gate',
    'api',
    'client',
    'setup',
    'ops',
    'doctor',
    'runtime',
    'config.ts',
  ],
  'service.ts': ['board', 'api', 'runtime', 'config.ts', 'service'],
  cli: [
    'market',
    'ledger',
    'api',
    'feeds',
    'gate',
    'http',
    'client',
    'mcp',
    'ops',
    'doctor',
    'runtime',
    'config',
    'config.ts',
    'service',
    'service.ts',
  ],
  'main.ts': ['cli'],
};

/** A folder with more files holds more than one idea. */
const FILES_PER_FOLDER_MAX = 12;

const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*|new URL\(\s*)['"](\.{1,2}\/[^'"]+)['"]/g;
const EXPORTED_TYPE = /^export (?:abstract )?(?:interface|type|class|enum) (\w+)/gm;

interface SourceFile {
  /** Relative to src/, as are the paths of its imports. */
  path: string;
  imports: string[];
  types: string[];
}

/** Reads the structure of src/, tests left out. Imports of types count like any other. */
export async function readSources(root = join(import.meta.dir, '..')): Promise<SourceFile[]> {
  const src = join(root, 'src');
  const paths = (await Array.fromAsync(new Bun.Glob('**/*.{ts,tsx}').scan(src))).sort();
  return Promise.all(
    paths.filter((path) => !/\.test\.tsx?$/.test(path)).map((path) => readSource(src, path)),
  );
}

async function readSource(src: string, path: string): Promise<SourceFile> {
  const text = await Bun.file(join(src, path)).text();
  const imports = [...text.matchAll(IMPORT)]
    .filter(([, target]) => !target!.endsWith('/package.json')) // for the version
    .map(([, target]) => relative(src, join(src, dirname(path), target!)));
  return { path, imports, types: [...text.matchAll(EXPORTED_TYPE)].map(([, name]) => name!) };
}

/** One line for each import that points the wrong way. */
export function wrongDirections(sources: readonly SourceFile[]): string[] {
  return sources.flatMap(({ path, imports }) => {
    const from = topOf(path);
    const allowed = MAY_IMPORT[from];
    if (!allowed) return [`src/${path}: no rule for "${from}"; add it to scripts/structure.ts`];
    return imports
      .filter((target) => topOf(target) !== from && !allowed.includes(topOf(target)))
      .map((target) => `src/${path}: ${from} may not import from ${topOf(target)} (${target})`);
  });
}

/** One line for each group of files that import each other in a circle. */
export function importCycles(sources: readonly SourceFile[]): string[] {
  const graph = new Map(sources.map(({ path, imports }) => [path, imports]));
  return cyclesOf(graph).map((files) => `import cycle: ${files.map((file) => `src/${file}`).join(', ')}`);
}

/** One line for each folder that holds too many files. */
export function crowdedFolders(sources: readonly SourceFile[]): string[] {
  return [...Map.groupBy(sources, ({ path }) => dirname(path))]
    .filter(([, files]) => files.length > FILES_PER_FOLDER_MAX)
    .map(
      ([folder, files]) =>
        `src/${folder}: ${files.length} files, at most ${FILES_PER_FOLDER_MAX}: make it two folders`,
    );
}

/** One line for each name that two files export a type under. */
export function duplicateTypes(sources: readonly SourceFile[]): string[] {
  const named = sources.flatMap(({ path, types }) => [...new Set(types)].map((name) => ({ name, path })));
  return [...Map.groupBy(named, ({ name }) => name)]
    .filter(([, places]) => places.length > 1)
    .map(
      ([name, places]) => `type ${name} is exported by ${places.map(({ path }) => `src/${path}`).join(', ')}`,
    );
}

/** Strongly connected components of more than one node, by Tarjan's algorithm. */
function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return cycles;

  function visit(node: string): void {
    order.set(node, order.size);
    lowest.set(node, order.get(node)!);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) visit(next);
      else if (!stack.includes(next)) continue;
      lowest.set(node, Math.min(lowest.get(node)!, lowest.get(next)!));
    }
    if (lowest.get(node) !== order.get(node)) return;
    const component = stack.splice(stack.indexOf(node));
    if (component.length > 1) cycles.push(component.sort());
  }
}

function topOf(path: string): string {
  return path.split('/')[0]!;
}
