import { type ParseArgsConfig, parseArgs } from 'node:util';

/** The flags of a script. A wrong one, `--help` included, ends it with the list of those that there are. */
export function readFlags<const T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const [what] = String(error instanceof Error ? error.message : error).split('. ');
    const flags = Object.entries(config.options ?? {}).map(([name, { default: usual }]) =>
      usual === undefined ? `--${name} …` : `--${name} ${usual}`,
    );
    console.error(`${what}. The flags, with what they are when not given: ${flags.join(', ')}`);
    return process.exit(2);
  }
}
