/** The features of the service, by path. */
let paths: ReadonlySet<string> = new Set();

/** How a command line of the service starts. */
let command = 'openpit';

/** Takes over what the service says about itself. */
export function learnFeatures(known: { paths: readonly string[]; command: string }): void {
  paths = new Set(known.paths);
  command = known.command;
}

export function hasEndpoint(path: string): boolean {
  return paths.has(path);
}

/** A command line to run on the machine of the service, from a command and its options. */
export function commandLine(rest: string): string {
  return `${command} ${rest}`;
}
