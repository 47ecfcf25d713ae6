import type { Message } from "@bufbuild/protobuf";
import type { Metadata, status } from "@grpc/grpc-js";

/** How a call is made. */
export interface CallOptions {
  readonly metadata: Metadata;
  /** When the call is given up, in milliseconds since 1970. */
  readonly deadline: number;
  /** Has a listener called when the call is to be canceled, at once when it is. */
  readonly whenCanceled: (listener: () => void) => void;
  /** Calls with the same one may be sent as one; undefined: it goes alone. */
  readonly batchKey?: string | undefined;
}

/** What became of a call. */
export type Outcome = Answered | Refused;

export type Answered = BatchMember & {
  readonly ok: true;
  readonly message: Message;
  readonly replayed: boolean;
};

export type Refused = BatchMember & {
  readonly ok: false;
  readonly code: status;
  readonly text: string;
  /**
   * A serialized google.rpc.Status; undefined when the refusal does not come from the server's own
   * code.
   */
  readonly statusBytes: Uint8Array | undefined;
  /**
   * Only for an item of a batch: the header that each field of the item carries, by the field's
   * name. The client sent the header, so a problem with the field is shown under the header's name.
   */
  readonly headerByField?: ReadonlyMap<string, string>;
};

/** What only a call has that was sent with others. */
interface BatchMember {
  /** The request id of all of them, which is in the server's log. */
  readonly batchId?: string;
}
