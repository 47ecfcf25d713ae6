import { type BookHead, ofEachAccount } from "../../../domain/book.js";
import { type Parsed, parsed, unparsed } from "../../../domain/values/parsed.js";
import { type IdempotencyKey, parseReference } from "../../../domain/values/text.js";
import { type BookSums as BookSumsMessage, MovementDirection } from "../../../gen/kesc/admin/v1/resources.js";
import type { RpcRoute } from "../../calls/route.js";
import { enumOf, parseRequiredWord } from "../../messages/enums.js";
import { fieldsOf } from "../../messages/field-kinds.js";
import type { ParsedFields } from "../../messages/fields.js";
import { formatSigned } from "../../messages/history/supply.js";
import { OPERATORS_KINDS } from "../../messages/operators/fields.js";
import { actRoute, type OperatorCaller } from "../acts.js";
import type { HandlersOptions } from "../operator-options.js";

const IN_OR_OUT = ["in", "out"] as const;
const DIRECTIONS = enumOf(MovementDirection, "MOVEMENT_DIRECTION", IN_OR_OUT);

const fields = fieldsOf({
  ...OPERATORS_KINDS,
  direction: (direction: MovementDirection) => parseRequiredWord(direction, IN_OR_OUT, DIRECTIONS),
  "idempotency-key": { as: "idempotencyKey", parse: parseKey },
  movement: parseReference,
});

/** The fields of each correction. The key is one of the metadata. */
const COMMON = ["amount", "note", "idempotency-key"] as const;

/** The rpcs that correct the books. */
export function moneyActs(options: HandlersOptions): Record<string, RpcRoute> {
  const act = actRoute(options);
  return {
    coverShortfall: act("coverShortfall", correction(fields(...COMMON))),
    recoverShortfall: act("recoverShortfall", correction(fields(...COMMON, "account_id"))),
    bookPayment: act("bookPayment", correction(fields(...COMMON, "rail_receipt", "account_id?"))),
    adjustMovement: act("adjustMovement", correction(fields(...COMMON, "movement", "direction", "account_id?"))),
    explainTransfer: act("explainTransfer", correction(fields(...COMMON, "rail_receipt", "direction"))),
    fundCharges: act("fundCharges", correction(fields(...COMMON, "rail_receipt", "direction"))),
  };
}

/** Makes the rpc of a correction, whose key is parsed as a field. */
function correction<Fields, Values>({ parse }: { readonly parse: (given: Fields) => ParsedFields<Values> }) {
  return {
    parse: (request: Omit<Fields, "idempotency-key">, { idempotencyKey }: OperatorCaller) =>
      parse({ ...request, "idempotency-key": idempotencyKey } as Fields),
    shown: (head: BookHead | undefined) => ({ sums: head && toSums(head) }),
  };
}

/** A repeat of a correction without a key would be another one. */
function parseKey(key: IdempotencyKey | undefined): Parsed<IdempotencyKey> {
  return key === undefined ? unparsed("is required as metadata", "REQUIRED") : parsed(key);
}

export function toSums({ sums }: Pick<BookHead, "sums">): BookSumsMessage {
  return ofEachAccount((account) => formatSigned(sums[account]));
}
