import { setLogger } from "@grpc/grpc-js";
import type { Logger } from "pino";

/**
 * Sends what @grpc/grpc-js has to say to our log, up to the first colon: after it come values, and
 * among them the API key of a caller whose header is malformed.
 */
export function logLibraryTo(logger: Logger): void {
  const write = (message: unknown): void => {
    logger.warn({ library: "@grpc/grpc-js" }, String(message).split(":", 1)[0]);
  };
  setLogger({ error: write, info: write, debug: write });
}
