import type { MoveMoney } from "../../domain/commands.js";
import { DIRECT_RAIL } from "../../domain/transaction.js";
import { type Cents, parseAmount } from "../../domain/values/cents.js";
import { type AccountId, parseAccountId, type TransactionId } from "../../domain/values/ids.js";
import {
  type Description,
  type Metadata,
  parseDescription,
  parseMetadata,
  parseNewReference,
  type Reference,
} from "../../domain/values/text.js";
import type { MintRequest, RedeemRequest } from "../../gen/kesc/v1/transaction_service.js";
import { actorOf, type Caller } from "../calls/call-context.js";
import { type ParsedFields, parseFields } from "../messages/fields.js";

/** The parsed fields of a mint or a redemption. */
export interface Movement {
  readonly account_id: AccountId;
  readonly amount: Cents;
  readonly reference: Reference;
  readonly description: Description;
  readonly metadata: Metadata;
}

/** Parses the fields that Mint and Redeem share. */
export function parseMovement(request: MintRequest | RedeemRequest): ParsedFields<Movement> {
  return parseFields({
    account_id: parseAccountId(request.account_id),
    amount: parseAmount(request.amount),
    reference: parseNewReference(request.reference),
    description: parseDescription(request.description),
    metadata: parseMetadata(request.metadata),
  });
}

export function moveMoneyCommand(
  name: MoveMoney["name"],
  movement: Movement,
  { caller, newTransactionId }: { caller: Pick<Caller, "key" | "idempotencyKey">; newTransactionId: TransactionId },
): MoveMoney {
  return {
    name,
    organizationId: caller.key.organizationId,
    actor: actorOf(caller.key),
    newTransactionId,
    accountId: movement.account_id,
    amountCents: movement.amount,
    reference: movement.reference,
    description: movement.description,
    metadata: movement.metadata,
    rail: DIRECT_RAIL,
    idempotencyKey: caller.idempotencyKey,
  };
}
