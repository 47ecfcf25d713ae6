/**
 * Describes where an error was thrown: its message and stack, then the kind, code and stack of each
 * of its causes.
 *
 * Omits the messages of causes. The messages of a database driver contain values of the failed
 * statement, such as phone numbers and e-mail addresses.
 */
export function traceOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return `thrown: ${typeof thrown}`;
  const causes = causesOf(thrown).map((cause) => `caused by ${kindOf(cause)}\n${framesOf(cause)}`);
  return [`${thrown.name}: ${thrown.message}\n${framesOf(thrown)}`, ...causes].join("\n");
}

const CAUSES_MAX = 5; // a chain may be a circle

function causesOf(error: Error): Error[] {
  const causes: Error[] = [];
  for (let cause = error.cause; cause instanceof Error && causes.length < CAUSES_MAX; cause = cause.cause) {
    causes.push(cause);
  }
  return causes;
}

function kindOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? `${error.name} ${error.code}` : error.name;
}

function framesOf(error: Error): string {
  return (error.stack ?? "")
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .join("\n");
}
