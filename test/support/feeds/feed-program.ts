/** The real program with one feed, `played`, whose provider a test plays: bun test/support/feeds/feed-program.ts feed run … */
import { runCli } from '../../../src/cli/cli.ts';
import { playedProvider } from './played-provider.ts';

process.exitCode = await runCli(process.argv.slice(2), [playedProvider('https://played.example')]);
