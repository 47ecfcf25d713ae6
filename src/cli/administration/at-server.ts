import { type Client, status as Status, type StatusObject } from "@grpc/grpc-js";

import { isOperatorKey } from "../../domain/operator.js";
import type { Config } from "../../startup/config.js";
import { secretFromEnvironment } from "../../startup/environment.js";
import { UsageError } from "../../startup/operator-error.js";
import { invoke } from "../call/invoke.js";
import { UNKNOWN_OUTCOME } from "../call/refusal-words.js";
import { serverAt } from "../connection.js";
import type { CarriedCall, Carrier } from "./carrier.js";
import { adminContract, type AdminRpc } from "./contract.js";
import { RefusedCallError } from "./refused-call.js";

const CALL_MILLIS_MAX = 30_000;
/** The server looks at each row of a file, and lets others work meanwhile. */
const UPLOAD_MILLIS_MAX = 600_000;

/** Carries calls to a server, as the operator whose key it has. */
export class ServerCarrier implements Carrier {
  readonly isAtServer = true;
  readonly #client: Client;
  readonly #address: string;
  readonly #key: string;

  /** Throws an OperatorError if the address must not be used, or the key is missing. */
  constructor(address: string, { named, config }: { readonly named: string; readonly config: Config }) {
    // KESC_INSECURE is not for operators: their keys can do everything.
    const { connect } = serverAt(address, { named, clientTls: config.clientTls, isInsecure: false });
    this.#address = address;
    this.#key = operatorKey();
    this.#client = connect();
  }

  async *carry({
    rpc,
    request,
    more = [],
    idempotencyKey,
    organizationId,
    onHead,
  }: CarriedCall): AsyncGenerator<Uint8Array> {
    const headers = {
      "x-api-key": this.#key,
      "idempotency-key": idempotencyKey,
      "kesc-organization": organizationId,
    };
    const callMillis = rpc.streams === "none" ? CALL_MILLIS_MAX : UPLOAD_MILLIS_MAX;
    const deadlineMillis = rpc.streams === "server" ? undefined : callMillis;
    const end = yield* invoke(this.#client, { path: rpc.path, headers, deadlineMillis }, inTurn(request, more));
    if (end.status.code !== Status.OK) throw this.#refusalOf(end.status, rpc);
    onHead?.({ replayed: end.replayed, proposalId: end.proposalId });
  }

  close(): void {
    this.#client.close();
  }

  #refusalOf(status: StatusObject, rpc: AdminRpc): RefusedCallError {
    const { info, text } = adminContract().refusalIn(status);
    if (info !== undefined) return new RefusedCallError(text, { reason: info.reason });
    const { code } = status;
    const advice =
      UNKNOWN_OUTCOME.has(code) && rpc.effect !== "reads" ? " Look whether it was done before you try again." : "";
    const message = `${Status[code]}: the AdminService at ${this.#address} did not answer (${text}).${advice}`;
    return new RefusedCallError(message, { isLost: code === Status.UNAVAILABLE });
  }
}

function* inTurn(request: Uint8Array, more: Iterable<Uint8Array>): Generator<Uint8Array, void, void> {
  yield request;
  yield* more;
}

/** The messages do not repeat the text, which may be a key with a typing error. */
function operatorKey(): string {
  const text = secretFromEnvironment("KESC_OPERATOR_KEY");
  if (isOperatorKey(text)) return text;
  throw new UsageError(
    text === ""
      ? "KESC_OPERATOR_KEY is not set. Set it to your key, or KESC_OPERATOR_KEY_FILE to a file that holds it."
      : 'KESC_OPERATOR_KEY is not the key of an operator. Such a key begins with "kesc_op_".',
  );
}
