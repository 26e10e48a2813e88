/** How a command line of the service starts. */
let command = 'openpit';

/** Takes over what the service says. */
export function learnCommand(known: { command: string }): void {
  command = known.command;
}

/** A command line to run on the machine of the service, from a command and its options. */
export function commandLine(rest: string): string {
  return `${command} ${rest}`;
}
