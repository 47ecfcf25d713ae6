import type { LedgerEvent } from "../../../events/event.js";
import type { Timestamp } from "../../../gen/google/protobuf/timestamp.js";
import { type Account, AccountStatus } from "../../../gen/kesc/v1/account.js";
import { type Freeze, FreezeReason } from "../../../gen/kesc/v1/freeze.js";
import {
  type Transaction,
  TransactionCorrection,
  type TransactionFailure,
  TransactionStatus,
  TransactionType,
} from "../../../gen/kesc/v1/transaction.js";
import { toEventMessage } from "./event.js";

/** How each field of a message is written, in the order of the contract. */
type Writers<Message> = { readonly [Name in keyof Message]-?: (value: Message[Name]) => string };

const json = (value: string | boolean | number): string => JSON.stringify(value);
/** A decimal of the contract is written with the same digits, as a JSON number. */
const decimal = (value: string): string => (value === "" ? "null" : value);

function time(value: Timestamp | undefined): string {
  if (value === undefined) return "null";
  return json(new Date(Number(value.seconds) * 1_000 + value.nanos / 1_000_000).toISOString());
}

/** Writes the name of an enum's value without the name of the enum. The zero value is null. */
function enumOf(names: Readonly<Record<number, string>>, prefix: string): (value: number) => string {
  return (value) => (value === 0 ? "null" : json((names[value] ?? "").slice(prefix.length).toLowerCase()));
}

function write<Message extends object>(writers: Writers<Message>, message: Message): string {
  const names = Object.keys(writers) as (keyof Message & string)[];
  return `{${names.map((name) => `"${name}":${writers[name](message[name])}`).join(",")}}`;
}

const FAILURE: Writers<TransactionFailure> = { reason: json, message: json };

const TRANSACTION: Writers<Transaction> = {
  id: json,
  account_id: json,
  type: enumOf(TransactionType, "TRANSACTION_TYPE_"),
  status: enumOf(TransactionStatus, "TRANSACTION_STATUS_"),
  status_reason: json,
  amount: decimal,
  source_currency: json,
  destination_currency: json,
  reference: json,
  description: json,
  metadata: (pairs) => JSON.stringify(Object.fromEntries(pairs)),
  rail: json,
  rail_receipt: json,
  failure: (failure) => (failure === undefined ? "null" : write(FAILURE, failure)),
  created_at: time,
  updated_at: time,
  completed_at: time,
  corrects_transaction_id: json,
  correction: enumOf(TransactionCorrection, "TRANSACTION_CORRECTION_"),
  reversed_by_transaction_id: json,
  available_balance_after: decimal,
  needs_attention: json,
};

const FREEZE: Writers<Freeze> = {
  id: json,
  reason_code: enumOf(FreezeReason, "FREEZE_REASON_"),
  reason: json,
  created_by: json,
  created_at: time,
  lifted_by: json,
  lifted_at: time,
  lift_reason: json,
};

const ACCOUNT: Writers<Account> = {
  id: json,
  user_id: json,
  phone_number: json,
  email: json,
  status: enumOf(AccountStatus, "ACCOUNT_STATUS_"),
  status_reason: json,
  available_balance: decimal,
  held_balance: decimal,
  currency: json,
  created_at: time,
  updated_at: time,
  as_of_sequence: (sequence) => (sequence === undefined ? "null" : String(sequence)),
  freezes: (freezes) => `[${freezes.map((freeze) => write(FREEZE, freeze)).join(",")}]`,
};

/** Returns the text of an event as REST shows it. What leaves this server without REST uses it. */
export function eventJson(event: LedgerEvent): string {
  const { sequence, id, type, occurred_at, resource, available_balance, held_balance } = toEventMessage(event);
  const transaction = resource?.$case === "transaction" ? write(TRANSACTION, resource.value) : "null";
  const account = resource?.$case === "account" ? write(ACCOUNT, resource.value) : "null";
  return [
    `{"sequence":${String(sequence)},"id":${json(id)},"type":${json(type)},"occurred_at":${time(occurred_at)}`,
    `"transaction":${transaction},"account":${account}`,
    `"available_balance":${decimal(available_balance)},"held_balance":${decimal(held_balance)}}`,
  ].join(",");
}
