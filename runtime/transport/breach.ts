import type { IncomingMessage } from "node:http";

/** Returns what breaks a rule of HTTP/1.1 that Node does not check (RFC 9112, 2.3 and 3.2). */
export function breachOf({ httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return "The version of the request must be HTTP/1.1.";
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.length === 4 && /^host$/i.test(name));
  if (hosts.length > 1) return "The header Host must be sent only once.";
  return hosts.length === 0 && httpVersion === "1.1" ? "The header Host is missing." : undefined;
}
