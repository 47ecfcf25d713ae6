import { type Client, Metadata, type ServiceError, status as Status } from "@grpc/grpc-js";

import { readSecret } from "../../../runtime/files/secret-file.js";
import { ErrorInfo } from "../../gen/google/rpc/error_details.js";
import { Status as StatusMessage } from "../../gen/google/rpc/status.js";
import { isOperatorKey } from "../../operators/operator.js";
import type { Config } from "../../startup/config.js";
import { invocation } from "../../startup/invocation.js";
import { UsageError } from "../../startup/operator-error.js";
import { serverAt } from "../connection.js";
import type { CarriedCall, Carrier } from "./carrier.js";
import type { AdminRpc } from "./contract.js";
import { RefusedCallError } from "./refused-call.js";

const CALL_MILLIS_MAX = 30_000;
const STATUS_DETAILS = "grpc-status-details-bin";
/** With other statuses the server has said what happened. */
const UNKNOWN_OUTCOME: ReadonlySet<number> = new Set([Status.UNAVAILABLE, Status.DEADLINE_EXCEEDED, Status.CANCELLED]);

/** Carries calls to a server, as the operator whose key it has. */
export class ServerCarrier implements Carrier {
  readonly isAtServer = true;
  readonly #client: Client;
  readonly #address: string;
  readonly #metadata = new Metadata();

  /** Throws an OperatorError if the address must not be used, or the key is missing. */
  constructor(address: string, { named, config }: { readonly named: string; readonly config: Config }) {
    // KESC_INSECURE is not for operators: their keys can do everything.
    const { connect } = serverAt(address, { named, clientTls: config.clientTls, isInsecure: false });
    this.#address = address;
    this.#metadata.set("x-api-key", operatorKey());
    this.#client = connect();
  }

  /** On the wire a unary call is a stream with one message. */
  async *carry({ rpc, request, ...told }: CarriedCall): AsyncGenerator<Uint8Array> {
    const options = rpc.streams === "server" ? {} : { deadline: Date.now() + CALL_MILLIS_MAX };
    const metadata = this.#metadata.clone();
    if (told.idempotencyKey !== undefined) metadata.set("idempotency-key", told.idempotencyKey);
    if (told.organizationId !== undefined) metadata.set("kesc-organization", told.organizationId);
    const call = this.#client.makeServerStreamRequest(rpc.path, asIs, asIs, request, metadata, options);
    call.on("metadata", (head: Metadata) => {
      const [proposalId] = head.get("kesc-proposal").map(String);
      told.onHead?.({ replayed: head.get("idempotent-replayed").includes("true"), proposalId });
    });
    try {
      yield* call as AsyncIterable<Buffer>;
    } catch (error) {
      throw this.#refusalOf(error as ServiceError, rpc);
    }
  }

  close(): void {
    this.#client.close();
  }

  #refusalOf({ code, details, metadata }: ServiceError, rpc: AdminRpc): RefusedCallError {
    const reason = reasonIn(metadata);
    if (reason !== undefined) return new RefusedCallError(details, { reason });
    const advice =
      UNKNOWN_OUTCOME.has(code) && rpc.effect !== "reads" ? " Look whether it was done before you try again." : "";
    const message = `${Status[code]}: the AdminService at ${this.#address} did not answer (${details}).${advice}`;
    return new RefusedCallError(message, { isLost: code === Status.UNAVAILABLE });
  }
}

function asIs(bytes: Buffer): Buffer {
  return bytes;
}

/** Returns the reason that the server gave. Undefined: the error comes from the connection. */
function reasonIn(metadata: Metadata): string | undefined {
  const [bytes] = metadata.get(STATUS_DETAILS);
  if (!(bytes instanceof Buffer)) return undefined;
  const info = StatusMessage.decode(bytes).details.find(({ type_url: type }) => type.endsWith("/google.rpc.ErrorInfo"));
  return info && ErrorInfo.decode(info.value).reason;
}

/** The messages do not repeat the text, which may be a key with a typing error. */
function operatorKey(): string {
  const key = readSecret(invocation().env, "KESC_OPERATOR_KEY");
  if (!key.ok) throw new UsageError(key.problem);
  const text = key.value?.trim() ?? "";
  if (isOperatorKey(text)) return text;
  throw new UsageError(
    text === ""
      ? "KESC_OPERATOR_KEY is not set. Set it to your key, or KESC_OPERATOR_KEY_FILE to a file that holds it."
      : 'KESC_OPERATOR_KEY is not the key of an operator. Such a key begins with "kesc_op_".',
  );
}
