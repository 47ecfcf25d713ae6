import { type Logger, pino } from "pino";

export type LogLine = Readonly<Record<string, unknown>>;

/** A log that adds each line to `lines`. */
export function logInto(lines: LogLine[], level = "info"): Logger {
  return pino({ level }, { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) });
}

/** The lines that say how a call ended. */
export function callLines(lines: readonly LogLine[]): LogLine[] {
  return lines.filter(({ msg }) => msg === "call");
}
