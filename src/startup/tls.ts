import type { ChannelCredentials } from "@grpc/grpc-js";
import type { Logger } from "pino";

import { clientCredentials } from "../../runtime/transport/client-credentials.js";
import { TlsFileError, type TlsFiles } from "../../runtime/transport/tls.js";
import { WatchedTls } from "../../runtime/transport/watched-tls.js";
import { WRONG_VARIABLE_EXIT_CODE } from "../../runtime/variables.js";
import { OperatorError } from "./operator-error.js";

/** Reads and watches the server's files. Throws an OperatorError if they cannot be used. */
export function usableTls(files: TlsFiles, logger: Logger): WatchedTls {
  return orOperatorError(() => new WatchedTls(files, { log: logger }));
}

/** Returns the credentials of a client. Throws an OperatorError if its files cannot be used. */
export function usableCredentials(address: string, files: TlsFiles | undefined): ChannelCredentials {
  return orOperatorError(() => clientCredentials(address, files));
}

function orOperatorError<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof TlsFileError)) throw error;
    throw new OperatorError(error.message, WRONG_VARIABLE_EXIT_CODE, { cause: error });
  }
}
