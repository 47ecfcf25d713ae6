import type { Logger } from "pino";

import type { UnixMillis } from "../../domain/values/time.js";
import {
  type RailServiceService,
  ReceiveCallbackRequest,
  ReceiveCallbackResponse,
} from "../../gen/kesc/v1/rail_service.js";
import { depositIdOf, readCallbackToken, transactionIdOf } from "../../rails/callback-token.js";
import { maskMessage } from "../../rails/mask.js";
import { done } from "../calls/rpc-result.js";
import { unary, type UnaryRoute } from "../calls/unary-call.js";
import { fieldProblem } from "../messages/fields.js";
import type { CellOf } from "./served-cell.js";

export interface RailHandlersOptions {
  readonly cellOf: CellOf;
  /** The secrets of the tokens in callback addresses: during a rotation the new and the old one. */
  readonly callbackSecrets: () => readonly Buffer[];
  readonly now: () => UnixMillis;
  readonly logger: Logger;
}

const BODY_BYTES_MAX = 65_536;
/** Skips a byte-order mark, as the bodies of all other routes may have one. */
const UTF_8 = new TextDecoder();
// A caller without a token of ours gets this response too: it learns nothing about tokens.
const ACCEPTED = answered('{"ResultCode":0,"ResultDesc":"Accepted"}');

/** The rpcs of kesc.v1.RailService. An rpc of the contract without a handler does not compile. */
export function railHandlers({
  cellOf,
  callbackSecrets,
  now,
  logger,
}: RailHandlersOptions): Record<keyof RailServiceService, UnaryRoute> {
  // No line holds a token: one of an earlier secret may be among them.
  const unknownTokens = new CountedRail(
    () => now(),
    (count) => {
      logger.warn({ count }, "callbacks came with a token that is not ours");
    },
  );
  const dropped = new CountedRail(
    () => now(),
    (count, transactionId) => {
      logger.warn(
        { count, transaction_id: transactionId },
        "callbacks found no room: their transaction has 50 messages",
      );
    },
  );
  return {
    receiveCallback: unary({
      isPublic: true,
      request: ReceiveCallbackRequest,
      response: ReceiveCallbackResponse,
      parse: ({ token, body }) => {
        const bytes = body?.data ?? Buffer.alloc(0);
        return bytes.length > BODY_BYTES_MAX
          ? fieldProblem("body", `must have at most ${String(BODY_BYTES_MAX)} bytes`, "TOO_LONG")
          : { ok: true, value: { token, bytes } };
      },
      run: async ({ token, bytes }) => {
        const subject = readCallbackToken(callbackSecrets(), token);
        if (subject === undefined) {
          unknownTokens.count();
          return ACCEPTED;
        }
        const { uuid, purpose } = subject;
        const { inbox, noteBalance, depositMessages, payments, wake } = cellOf(subject);
        if (purpose === "confirmation") {
          // The body proves nothing: the list of the rail tells what came in. So nobody stores it.
          depositMessages?.confirmed(uuid);
          return ACCEPTED;
        }
        if (purpose === "validation") {
          const answer = await depositMessages?.answer(uuid, UTF_8.decode(bytes));
          return answer === undefined ? ACCEPTED : answered(answer);
        }
        if (purpose === "return") {
          const depositId = depositIdOf(uuid);
          const added = await inbox.addAboutReturn(depositId, maskMessage(UTF_8.decode(bytes)), now());
          if (added === "stored") await depositMessages?.returnReported(depositId);
          if (added === "full") dropped.count(depositId);
          return ACCEPTED;
        }
        const message = { purpose, body: maskMessage(UTF_8.decode(bytes)) };
        if (purpose === "balance") {
          noteBalance?.(uuid, message);
          return ACCEPTED;
        }
        const transactionId = purpose === "status" ? await payments.endQuestion(uuid) : transactionIdOf(uuid);
        // The question has an answer, or another one was asked since.
        if (transactionId === undefined) return ACCEPTED;
        const added = await inbox.add({ transactionId, ...message }, now());
        if (added === "stored") wake();
        if (added === "full") dropped.count(transactionId);
        return ACCEPTED;
      },
    }),
  };
}

function answered(json: string) {
  return done({ body: { content_type: "application/json", data: Buffer.from(json), extensions: [] } });
}

const LOG_MILLIS = 60_000;

/** Counts what anybody can make happen, and logs the count at most once a minute. */
class CountedRail {
  readonly #now: () => UnixMillis;
  readonly #log: (count: number, last: string | undefined) => void;
  #count = 0;
  #loggedAt = -Infinity;

  constructor(now: () => UnixMillis, log: (count: number, last: string | undefined) => void) {
    this.#now = now;
    this.#log = log;
  }

  count(what?: string): void {
    this.#count += 1;
    const now = this.#now();
    if (now - this.#loggedAt < LOG_MILLIS) return;
    this.#loggedAt = now;
    this.#log(this.#count, what);
    this.#count = 0;
  }
}
