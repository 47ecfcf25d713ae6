import type { IncomingMessage } from "node:http";

/**
 * The path and the query of a request. Not read as a URL: that throws for some paths, such as "//",
 * and any client may send one.
 */
export function targetOf({ url = "/" }: IncomingMessage): { path: string; query: URLSearchParams } {
  const [path = "/", query = ""] = url.split("?", 2);
  return { path, query: new URLSearchParams(query) };
}
