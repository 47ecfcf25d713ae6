import type { ChannelCredentials } from "@grpc/grpc-js";

import {
  clientCredentials,
  readTlsIdentity,
  TlsFileError,
  type TlsFiles,
  type TlsIdentity,
} from "../../runtime/transport/tls.js";
import { WRONG_VARIABLE_EXIT_CODE } from "../../runtime/variables.js";
import { OperatorError } from "./operator-error.js";

/** Reads the server's certificate and key. Throws an OperatorError if they cannot be used. */
export function usableIdentity(files: TlsFiles): TlsIdentity {
  return orOperatorError(() => readTlsIdentity(files));
}

/** Returns the credentials of a client. Throws an OperatorError if the CA cannot be used. */
export function usableCredentials(address: string, caFile: string | undefined): ChannelCredentials {
  return orOperatorError(() => clientCredentials(address, caFile));
}

function orOperatorError<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof TlsFileError)) throw error;
    throw new OperatorError(error.message, WRONG_VARIABLE_EXIT_CODE, { cause: error });
  }
}
