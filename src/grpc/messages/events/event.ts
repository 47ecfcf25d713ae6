import { HELD_REASONS } from "../../../domain/rail-account.js";
import type { WarningSnapshot } from "../../../domain/rail-warning.js";
import { formatCents } from "../../../domain/values/cents.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import type { AccountSnapshot, LedgerEvent } from "../../../events/event.js";
import type { EventCodec } from "../../../events/ports.js";
import {
  type AccountSnapshot as AccountSnapshotMessage,
  Event as EventMessage,
  type RailWarning as RailWarningMessage,
  type RowContent as RowContentMessage,
} from "../../../gen/kesc/v1/event.js";
import { ACCOUNT_STATUS_MESSAGES } from "../account.js";
import { toDepositMessage } from "../deposit.js";
import { toDestinationMessage } from "../destination.js";
import { shown } from "../fields.js";
import { toFreezeMessage } from "../freeze.js";
import { formatSigned } from "../history/supply.js";
import { toHeldReason } from "../payment.js";
import { toTimestamp } from "../timestamp.js";
import { toTransactionMessage } from "../transaction.js";
import { encode } from "../wire-format.js";

export function toEventMessage(event: LedgerEvent): EventMessage {
  const { balances } = event;
  return {
    sequence: BigInt(event.sequence),
    id: event.id,
    type: event.type,
    recorded_at: toTimestamp(event.recordedAt),
    actor: event.actor,
    resource: resourceOf(event),
    available_balance: balances === undefined ? undefined : formatCents(balances.availableCents),
    held_balance: balances === undefined ? undefined : formatCents(balances.heldCents),
    row: event.row === undefined ? undefined : toRowContent(event.row),
  };
}

function resourceOf(event: LedgerEvent): EventMessage["resource"] {
  const { transaction, account, deposit, destination, apiKeyId, webhookEndpointId } = event;
  if (transaction !== undefined) return { $case: "transaction", value: toTransactionMessage(transaction) };
  if (account !== undefined) return { $case: "account", value: toSnapshotMessage(account) };
  if (deposit !== undefined) return { $case: "deposit", value: toDepositMessage(deposit) };
  if (destination !== undefined) return { $case: "destination", value: toDestinationMessage(destination) };
  if (apiKeyId !== undefined) return { $case: "api_key_id", value: apiKeyId };
  if (webhookEndpointId !== undefined) return { $case: "webhook_endpoint_id", value: webhookEndpointId };
  if (event.railWarning !== undefined) return { $case: "rail_warning", value: toWarningMessage(event.railWarning) };
  return undefined;
}

function toRowContent({ posting, statedCents, ...said }: NonNullable<LedgerEvent["row"]>): RowContentMessage {
  return {
    debit_account: posting?.debit,
    credit_account: posting?.credit,
    amount: posting && formatCents(posting.amountCents),
    stated_amount: statedCents === undefined ? undefined : formatCents(statedCents),
    rail_receipt: said.receipt,
    place: said.place,
    as_of_day: said.asOfDay,
    evidence: said.evidence,
    direction: said.direction,
    movement: said.movement,
    detail: said.detail,
  };
}

function toSnapshotMessage(account: AccountSnapshot): AccountSnapshotMessage {
  const { freeze } = account;
  return {
    id: account.id,
    status: ACCOUNT_STATUS_MESSAGES[account.status],
    status_note: shown(account.statusNote),
    tier: account.tier,
    freeze: freeze === undefined ? undefined : toFreezeMessage(freeze),
    created_at: toTimestamp(account.createdAt),
    updated_at: toTimestamp(account.updatedAt),
    deposit_reference: account.depositReference,
  };
}

function toWarningMessage({ rail, code, figures }: WarningSnapshot): RailWarningMessage {
  const amount = (cents: number | string | undefined): string | undefined =>
    typeof cents === "number" ? formatSigned(cents) : undefined;
  const { available_cents, float_min_cents, expire_at: expireAt, rail_code: railCode } = figures;
  const { reason, unknown_payouts: unknown, credential, request } = figures;
  return {
    rail,
    code,
    available: amount(available_cents),
    float_min: amount(float_min_cents),
    credentials_expire_at: typeof expireAt === "number" ? toTimestamp(toUnixMillis(expireAt)) : undefined,
    rail_code: typeof railCode === "string" ? railCode : undefined,
    held_reason: toHeldReason(HELD_REASONS.find((known) => known === reason)),
    unknown_payouts: typeof unknown === "number" ? BigInt(unknown) : undefined,
    credential: typeof credential === "string" ? credential : undefined,
    request: typeof request === "string" ? request : undefined,
  };
}

function encodeEvent(event: LedgerEvent): Buffer {
  return encode(EventMessage, toEventMessage(event));
}

const TAG_OF_EVENTS = 0x0a;
const TAG_OF_NEXT_SEQUENCE = 0x10;

/**
 * Encodes WatchEventsResponse by hand: a message is its events one after another, so an event is
 * encoded once for all messages that have it.
 */
export const eventCodec: EventCodec = {
  entry: (event) => {
    const bytes = encodeEvent(event);
    return Buffer.concat([Buffer.of(TAG_OF_EVENTS), varint(bytes.length), bytes]);
  },
  message: (entries, nextSequence) =>
    Buffer.concat([...entries, Buffer.of(TAG_OF_NEXT_SEQUENCE), varint(nextSequence)]),
};

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left > 0x7f; left = Math.floor(left / 0x80)) bytes.push((left % 0x80) | 0x80);
  bytes.push(left);
  return Buffer.from(bytes);
}
