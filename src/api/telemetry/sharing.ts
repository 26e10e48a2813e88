/** Takes the function that renders this process's metrics, and returns one that renders those of all processes on its port. */
export type ShareMetrics = (render: () => string) => () => Promise<string>;

/** The same for any text, which is returned as one text per process. */
export type ShareTexts = (render: () => string) => () => Promise<readonly string[]>;

/** How the processes that share a port exchange their measurements. */
export interface ProcessSharing {
  shareMetrics: ShareMetrics;
  shareTraffic: ShareTexts;
}
