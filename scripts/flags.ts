import { type ParseArgsConfig, parseArgs } from 'node:util';

/** Reads the flags of a script. An unknown one, `--help` included, prints the list of flags and exits. */
export function readFlags<const T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const [what] = String(error instanceof Error ? error.message : error).split('. ');
    const flags = Object.entries(config.options ?? {}).map(([name, { default: usual }]) =>
      usual === undefined ? `--${name} …` : `--${name} ${usual}`,
    );
    console.error(`${what}. Flags and their defaults: ${flags.join(', ')}`);
    return process.exit(2);
  }
}
