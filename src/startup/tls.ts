import type { ChannelCredentials } from "@grpc/grpc-js";
import type { Logger } from "pino";

import { clientCredentials } from "../../runtime/transport/client-credentials.js";
import { TlsFileError, type TlsFiles } from "../../runtime/transport/tls.js";
import { WatchedTls } from "../../runtime/transport/watched-tls.js";
import { UsageError } from "./operator-error.js";

/** Reads and watches the server's files. Throws a UsageError if they cannot be used. */
export function usableTls(files: TlsFiles, logger: Logger): WatchedTls {
  return orOperatorError(() => new WatchedTls(files, { log: logger }));
}

/** Returns the credentials of a client. Throws a UsageError if its files cannot be used. */
export function usableCredentials(address: string, files: TlsFiles | undefined): ChannelCredentials {
  return orOperatorError(() => clientCredentials(address, files));
}

function orOperatorError<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof TlsFileError)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
}
