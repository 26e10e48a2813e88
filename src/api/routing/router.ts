import { isPlainText } from '../../runtime/plain-text.ts';
import type { Format } from '../model/table.ts';
import { DIALECTS, type Dialect } from '../versions/dialects.ts';
import type { MountPoint } from './mount-point.ts';

/** Paths of similar services, and their equivalents here. */
const GUESSES: Readonly<Record<string, string>> = {
  '/latest': '/rates/latest',
  '/live': '/rates/latest',
  '/rates': '/rates/latest',
  '/rates/live': '/rates/latest',
  '/spot': '/rates/latest',
  '/historical': '/rates/historical',
  '/history': '/rates/history',
  '/open-high-low-close': '/rates/historical',
  '/ohlc': '/rates/historical',
  '/rates/timeseries': '/rates/time-series',
  '/timeseries': '/rates/time-series',
  '/time-series': '/rates/time-series',
  '/fluctuation': '/rates/fluctuation',
  '/revisions': '/rates/revisions',
  '/rates/symbols': '/symbols',
  '/symbol': '/symbols',
  '/supported-symbols': '/symbols',
  '/account': '/account',
  '/account/usage': '/usage',
  '/status': '/usage',
  '/quota': '/usage',
};

/** A path that ends in the name of a format, as those of files do. */
const EXTENSION = /^(.+)\.([a-z]+)$/;

/** Table formats that are not offered. */
const OTHER_TABLES: ReadonlySet<string> = new Set([
  'xlsx',
  'xls',
  'ods',
  'tsv',
  'txt',
  'xml',
  'jsonl',
  'arrow',
]);

/** No real path is longer. The patterns below take quadratic time: 0.1 s for 8 KB of slashes. */
const HINT_FROM_MAX = 100;

export interface RouteMatch<Route> {
  route: Route;
  dialect: Dialect;
  /** The value of `:id`. */
  id: string;
  /** The format that the path ends in. */
  format?: Format;
}

export interface Routes<Route> {
  /** Under every mount point. */
  mounted: Readonly<Record<string, Route>>;
  /** Under every mount point, for those that have formats: `/rates/history.csv`. */
  formatted: Readonly<Record<string, { route: Route; format: Format }>>;
  /** Only at the root. */
  root: Readonly<Record<string, Route>>;
  /** The paths that a message about an unknown path lists. */
  named: readonly string[];
}

/** Finds the route of a path, under every mount point, with or without a trailing slash. */
export class Router<Route> {
  readonly #exact = new Map<string, RouteMatch<Route>>();
  readonly #open: { pattern: RegExp; route: Route; dialect: Dialect }[] = [];
  readonly #paths: readonly string[];
  readonly #mounts: readonly MountPoint[];

  constructor(mounts: readonly MountPoint[], { mounted, formatted, root, named }: Routes<Route>) {
    this.#mounts = mounts;
    this.#paths = named;
    for (const mount of mounts) {
      const dialect = DIALECTS[mount.dialect];
      for (const [path, route] of Object.entries(mounted)) this.#add(mount.path + path, route, dialect);
      for (const [path, { route, format }] of Object.entries(formatted)) {
        const match = { route, dialect, id: '', format };
        for (const slash of ['', '/']) this.#exact.set(mount.path + path + slash, match);
      }
    }
    for (const [path, route] of Object.entries(root)) this.#add(path, route, DIALECTS.v1);
  }

  /** A doubled slash counts as one: base URLs often end in a slash. */
  find(path: string): RouteMatch<Route> | undefined {
    return this.#find(path) ?? (path.includes('//') ? this.#find(path.replace(/\/{2,}/g, '/')) : undefined);
  }

  #find(path: string): RouteMatch<Route> | undefined {
    const exact = this.#exact.get(path);
    if (exact) return exact;
    for (const { pattern, route, dialect } of this.#open) {
      const id = pattern.exec(path)?.[1];
      if (id !== undefined) return { route, dialect, id: decode(id) };
    }
    return undefined;
  }

  /** A hint for an unknown path: the right one, if it can be guessed, and all others. */
  hint(requested: string): string {
    const path = requested.slice(0, HINT_FROM_MAX).replace(/\/{2,}/g, '/');
    const mount = (this.#mountOf(path) ?? this.#mounts[0]!).path;
    const inside = (path.startsWith(`${mount}/`) ? path.slice(mount.length) : path)
      .replace(/\/+$/, '')
      .toLowerCase();
    const rest = inside.replace(/^\/(v\d+|api(\/v\d+)?)(?=\/)/, '');
    const guess = this.#guess(mount, rest);
    const all = `The paths are ${this.#paths.map((one) => mount + one).join(', ')}.`;
    return guess === undefined ? all : `${guess} ${all}`;
  }

  /** The dialect of an unknown path. */
  dialectOf(path: string): Dialect {
    return DIALECTS[this.#mountOf(path)?.dialect ?? 'v1'];
  }

  /** The longest mount that a path is under. */
  #mountOf(path: string): MountPoint | undefined {
    let found: MountPoint | undefined;
    for (const mount of this.#mounts) {
      const isUnder = path === mount.path || path.startsWith(`${mount.path}/`);
      if (isUnder && mount.path.length >= (found?.path.length ?? 0)) found = mount;
    }
    return found;
  }

  #guess(mount: string, rest: string): string | undefined {
    if (/^(\/rates)?(\/historical)?\/\d{4}-\d{2}-\d{2}$/.test(rest)) {
      return `The rates of a day are at ${mount}/rates/historical?date=${rest.slice(-10)}&symbols=….`;
    }
    if (rest === '/convert' || rest === '/rates/convert') {
      return `A conversion is a parameter: ${mount}/rates/latest?symbols=…&quote=EUR.`;
    }
    if (rest === '/docs' || rest === '/documentation') {
      return 'The documentation is at /#/docs, and the reference at /docs/reference.';
    }
    const [, withoutExtension = rest, extension = ''] = EXTENSION.exec(rest) ?? [];
    const meant = GUESSES[withoutExtension] ?? this.#paths.find((one) => one === withoutExtension);
    if (meant === undefined) return undefined;
    if (this.#exact.has(`${mount}${meant}.${extension}`))
      return `Did you mean ${mount}${meant}.${extension}?`;
    if (OTHER_TABLES.has(extension) && this.#exact.has(`${mount}${meant}.csv`))
      return `Did you mean ${mount}${meant}.csv? A path may end in .json, .csv, .ndjson or .parquet.`;
    return `Did you mean ${mount}${meant}?`;
  }

  #add(path: string, route: Route, dialect: Dialect): void {
    if (path.includes('/:id')) {
      const escaped = path.replaceAll('.', '\\.').replace('/:id', '/([^/]+)');
      this.#open.push({ pattern: new RegExp(`^${escaped}/?$`), route, dialect });
      return;
    }
    this.#exact.set(path, { route, dialect, id: '' });
    if (path !== '/') this.#exact.set(`${path}/`, { route, dialect, id: '' });
  }
}

/** An id that cannot be decoded, or contains a control character, stays as sent: no such id exists. */
function decode(text: string): string {
  try {
    const id = decodeURIComponent(text);
    return isPlainText(id) ? id : text;
  } catch {
    return text;
  }
}
