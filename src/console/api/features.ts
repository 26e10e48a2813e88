/** The features of the service, by path. */
let paths: ReadonlySet<string> = new Set();

export function learnFeatures(known: readonly string[]): void {
  paths = new Set(known);
}

export function hasEndpoint(path: string): boolean {
  return paths.has(path);
}
