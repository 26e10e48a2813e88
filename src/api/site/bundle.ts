import page from '../../console/index.html';
import { SiteFile } from './file.ts';

/** The console: its HTML document, and the files it loads, by name. */
export interface Bundle {
  readonly document: SiteFile;
  readonly assets: ReadonlyMap<string, SiteFile>;
}

interface BuiltFile {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Path of the files. Their names contain a content hash. */
export const ASSETS_PATH = '/console/assets';

/** The compiled program embeds the bundle. From source, it is built on first use. */
export async function openBundle(): Promise<Bundle> {
  const files = page.files ? await embedded(page.files) : await built();
  const names = files.map(({ name }) => name);
  const assets = new Map(
    files.map(({ name, bytes }) => {
      const text = withAssetsPath(new TextDecoder().decode(bytes), names);
      return [name, new SiteFile(text, name.slice(name.lastIndexOf('.') + 1))];
    }),
  );
  const documentName = names.find((name) => name.endsWith('.html')) ?? '';
  const document = assets.get(documentName);
  if (!document) throw new Error('the console bundle has no HTML document');
  assets.delete(documentName);
  return { document, assets };
}

/** Rewrites references such as `./chunk.js` or `/chunk.js` to the path that all files are served from. */
function withAssetsPath(text: string, names: readonly string[]): string {
  let rewritten = text;
  for (const name of names)
    rewritten = rewritten.replaceAll(new RegExp(`(["'])\\.?/${name}\\1`, 'g'), `$1${ASSETS_PATH}/${name}$1`);
  return rewritten;
}

async function embedded(files: readonly { path: string }[]): Promise<BuiltFile[]> {
  return Promise.all(
    files.map(async ({ path }) => ({ name: nameOf(path), bytes: await Bun.file(path).bytes() })),
  );
}

async function built(): Promise<BuiltFile[]> {
  const { outputs } = await Bun.build({
    entrypoints: [page.index],
    target: 'browser',
    minify: true,
    splitting: true,
    define: { 'process.env.NODE_ENV': '"production"' }, // otherwise the chart library includes its debug checks, at twice the size
  });
  return Promise.all(
    outputs.map(async (output) => ({
      name: nameOf(output.path),
      bytes: new Uint8Array(await output.arrayBuffer()),
    })),
  );
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
