import type { JsonObject } from "@bufbuild/protobuf";
import type { status as Status } from "@grpc/grpc-js";

/** The things of an organization that a request may name. */
export interface Things {
  readonly account_id: string;
  /** An account with a freeze, and that freeze. */
  readonly frozen_id: string;
  readonly freeze_id: string;
  readonly transaction_id: string;
  readonly user_id: string;
  readonly reference: string;
  readonly webhook_endpoint_id: string;
  /** Another endpoint, which a call deletes. */
  readonly spare_endpoint_id: string;
  readonly destination_id: string;
  /** Another destination, which a call removes. */
  readonly spare_destination_id: string;
}

/** How the tests call an rpc. */
export interface RpcRequest {
  /**
   * Returns a request as protobuf's JSON, with enum values by number. It must set every field that
   * can name a thing: isolation calls the rpc with the things of another organization.
   */
  readonly request: (things: Things) => JsonObject;
  /** The status of the call with the organization's own things. By default OK. */
  readonly code?: Status;
  /** The status of a second call, if that differs. */
  readonly repeatCode?: Status;
}

let names = 0;

/** A name that no other request has. */
export function fresh(): string {
  names += 1;
  return `requested-${String(names)}`;
}
