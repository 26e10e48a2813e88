import { McpServer } from '@modelcontextprotocol/server';
import type { AskRates } from '../client/ask.ts';
import { errorText } from './hints.ts';
import { type Horizon, horizonOf } from './horizon.ts';
import { registerResources } from './resources.ts';
import { askUntil, type Tool } from './tool.ts';
import { priceChange } from './tools/change.ts';
import { compare } from './tools/compare.ts';
import { findSymbols } from './tools/find-symbols.ts';
import { formula } from './tools/formula.ts';
import { latestPrices } from './tools/latest.ts';
import { priceOnDate } from './tools/price-on-date.ts';
import { priceSeries } from './tools/series.ts';
import { priceStatistics } from './tools/statistics.ts';
import { usage } from './tools/usage.ts';

/** In the order in which a model sees them. */
const TOOLS: readonly Tool[] = [
  findSymbols,
  latestPrices,
  priceOnDate,
  priceSeries,
  priceChange,
  priceStatistics,
  compare,
  formula,
  usage,
];

const INSTRUCTIONS =
  'Commodity prices: metals, energy, agriculture and more. Find codes with find_symbols first. Always state currency, unit and date of a price, and say so if it is simulated. The resource openpit://guide explains the rest.';

/** By default, the SDK announces changes, but clients that subscribe to them get an error. */
const CAPABILITIES = { tools: { listChanged: false }, resources: { listChanged: false } };

/** A server of the Model Context Protocol that answers questions about prices through `ask`. */
export function createMcpServer(ask: AskRates, version: string, now: () => number): McpServer {
  const options = { instructions: INSTRUCTIONS, capabilities: CAPABILITIES };
  const server = new McpServer({ name: 'openpit', version }, options);
  const horizon = horizonOf(ask, now);
  for (const tool of TOOLS) register(server, tool, ask, horizon);
  registerResources(server, ask);
  return server;
}

function register(
  server: McpServer,
  { name, title, description, input, answer }: Tool,
  ask: AskRates,
  horizon: Horizon,
): void {
  const about = {
    title,
    description,
    inputSchema: input,
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
  server.registerTool(name, about, async (args, { mcpReq }) => {
    try {
      const { text, resource } = await answer(args, askUntil(mcpReq.signal, ask), horizon);
      const link = resource && { type: 'resource_link' as const, ...resource, mimeType: 'text/csv' };
      return { content: [{ type: 'text', text }, ...(link ? [link] : [])] };
    } catch (error) {
      return { isError: true, content: [{ type: 'text', text: errorText(error) }] };
    }
  });
}
