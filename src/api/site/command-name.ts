/** How to run a command beside this program: the single-file build needs no Node, so there may be no npx. */
export const COMMAND_NAME = Bun.isStandaloneExecutable ? 'openpit' : 'npx openpit';
