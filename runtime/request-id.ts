import { randomUUID } from "node:crypto";

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Returns the caller's own request id if it is safe to log, and a new one otherwise. */
export function requestIdOf(sent: unknown): string {
  return typeof sent === "string" && REQUEST_ID.test(sent) ? sent : randomUUID();
}
