import { setLogger } from "@grpc/grpc-js";
import type { Logger } from "pino";

/**
 * Writes the log of @grpc/grpc-js to our log. Cuts each message at the first colon, because values
 * follow it. One of them is the API key of a caller with a malformed header.
 */
export function logLibraryTo(logger: Logger): void {
  const write = (message: unknown): void => {
    logger.warn({ library: "@grpc/grpc-js" }, String(message).split(":", 1)[0]);
  };
  setLogger({ error: write, info: write, debug: write });
}
