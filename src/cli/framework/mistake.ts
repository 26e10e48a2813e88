/**
 * Whether the interface refused the parameters: exit code 2, as for a mistyped option. What a plan or the prices in the ledger
 * do not allow is none.
 */
export function isMistake({ status, code }: { status: number; code: string | undefined }): boolean {
  return status === 400 || code === 'unknown_symbol' || code === 'unknown_currency';
}
