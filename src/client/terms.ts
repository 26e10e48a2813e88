/**
 * A message of the service for a caller that has other names for its parameters and requests: an option `--from`, an argument
 * `from` of a tool, or a command instead of `GET /symbols`. `layout=wide` is renamed by the name `layout=`. What has no other
 * name keeps its own.
 */
export function inTermsOf(names: Readonly<Record<string, string>>, message: string): string {
  return message.replace(
    /The parameter "(\w+)"|[Tt]he (startDate|endDate)\b|(GET \/symbols\b|the option "url"|without quote\b|\b\w+=(?=\w))/g,
    (whole, parameter?: string, day?: string, other?: string) => names[parameter ?? day ?? other!] ?? whole,
  );
}
