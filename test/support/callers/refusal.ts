import type { Metadata } from "@grpc/grpc-js";

import { BadRequest, ErrorInfo, RetryInfo } from "../../../src/gen/google/rpc/error_details.js";
import { Status } from "../../../src/gen/google/rpc/status.js";

/** The error details of a gRPC status, in the form in which tests compare them. */
export interface RefusalDetails {
  readonly reason?: string;
  readonly domain?: string;
  readonly facts?: Readonly<Record<string, string>>;
  readonly fields?: readonly { readonly field: string; readonly message: string; readonly code: string }[];
  readonly retrySeconds?: number;
}

/** Reads the details from the trailers of a call; returns an empty object where there are none. */
export function detailsOf(trailers: Metadata): RefusalDetails {
  const [bytes] = trailers.get("grpc-status-details-bin");
  return Buffer.isBuffer(bytes) ? detailsIn(Status.decode(bytes)) : {};
}

/** Reads the details of a google.rpc.Status, which a batch returns for each refused item. */
export function detailsIn({ details }: Status): RefusalDetails {
  return Object.assign({}, ...details.map(readDetail)) as RefusalDetails;
}

function readDetail({ type_url, value }: Status["details"][number]): RefusalDetails {
  switch (type_url) {
    case "type.googleapis.com/google.rpc.ErrorInfo": {
      const { reason, domain, metadata } = ErrorInfo.decode(value);
      return { reason, domain, facts: Object.fromEntries(metadata) };
    }
    case "type.googleapis.com/google.rpc.BadRequest": {
      const violations = BadRequest.decode(value).field_violations;
      return {
        fields: violations.map(({ field, description, reason }) => ({ field, message: description, code: reason })),
      };
    }
    case "type.googleapis.com/google.rpc.RetryInfo": {
      const { seconds, nanos } = RetryInfo.decode(value).retry_delay ?? {};
      return { retrySeconds: Number(seconds) + Number(nanos) / 1e9 };
    }
    default:
      return {};
  }
}
