/**
 * A message of the service for a caller that has other names for its parameters: an option `--from`, or an argument `from`
 * of a tool. A parameter without another name keeps its own.
 */
export function inTermsOf(names: Readonly<Record<string, string>>, message: string): string {
  return message.replace(
    /The parameter "(\w+)"|[Tt]he (startDate|endDate)\b/g,
    (whole, parameter?: string, day?: string) => names[parameter ?? day!] ?? whole,
  );
}
