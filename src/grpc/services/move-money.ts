import type { MoveMoney } from "../../domain/money/move-money.js";
import type { RailReceipt, RailTerms } from "../../domain/payment.js";
import { parseReceipt, type Receipt } from "../../domain/receipt.js";
import { DIRECT_RAIL, parseRail, type Rail, type Transaction, type TransactionType } from "../../domain/transaction.js";
import { type Cents, parseAmount } from "../../domain/values/cents.js";
import {
  type AccountId,
  type DestinationId,
  parseAccountId,
  parseDestinationId,
  type TransactionId,
} from "../../domain/values/ids.js";
import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import { parsePhoneNumber, type PhoneNumber } from "../../domain/values/phone-number.js";
import {
  type Description,
  type Metadata,
  parseDescription,
  parseMetadata,
  parseNewReference,
  type Reference,
} from "../../domain/values/text.js";
import type { MintRequest, RedeemRequest } from "../../gen/kesc/v1/transaction_service.js";
import type { Outcome } from "../../ledger/ports/outcome.js";
import { actorOf, type Caller } from "../calls/call-context.js";
import { ifGiven, type ParsedFields, parseFields } from "../messages/fields.js";
import type { CellOf, ServedCell } from "./served-cell.js";

/** The parsed fields of a mint or a redemption. */
export interface Movement {
  readonly account_id: AccountId;
  readonly amount: Cents;
  readonly reference: Reference;
  readonly description: Description;
  readonly metadata: Metadata;
  readonly rail: ChosenRail;
  readonly payer_phone_number: PhoneNumber | undefined;
  readonly receipt: RailReceipt | undefined;
  readonly destination_id: DestinationId | undefined;
}

/** The rail of a movement. The request has named it, or it is the organization's default one. */
interface ChosenRail {
  readonly name: Rail;
  readonly isNamed: boolean;
}

export interface MovementOptions {
  readonly cellOf: CellOf;
  readonly newTransactionId: () => TransactionId;
  /** Nothing is paid out to a phone number that was changed less than this time ago. */
  readonly phoneCoolingMillis: number;
}

/** Only a mint has a payer, and only a redemption a destination. */
export type MovementRequest = Omit<RedeemRequest, "destination_id"> &
  Partial<Pick<MintRequest, "payer_phone_number"> & Pick<RedeemRequest, "destination_id">>;

/** Parses the fields of a mint or a redemption. */
export function parseMovement(request: MovementRequest, defaultRail: Rail): ParsedFields<Movement> {
  const rail = parseChosenRail(request.rail, defaultRail);
  return parseFields({
    account_id: parseAccountId(request.account_id),
    amount: parseAmount(request.amount),
    reference: parseNewReference(request.reference),
    description: parseDescription(request.description),
    metadata: parseMetadata(request.metadata),
    rail,
    payer_phone_number: ifOrdered(request.payer_phone_number ?? "", rail, parsePhoneNumber),
    receipt: parseReceiptOf(request.receipt, rail),
    destination_id: ifOrdered(request.destination_id ?? "", rail, parseDestinationId),
  });
}

/**
 * Submits the movement. If the service has accepted an order for a rail, the settlement looks at it
 * at once.
 */
export function submitMovement(
  name: MoveMoney["name"],
  movement: Movement,
  {
    caller,
    options,
    bulk,
  }: {
    caller: Pick<Caller, "who" | "organization" | "idempotencyKey" | "deadline" | "trace">;
    options: MovementOptions;
    bulk: boolean;
  },
): Promise<Outcome<Transaction>> {
  const { organization, deadline, trace } = caller;
  const cell = options.cellOf(organization);
  const { rail } = movement;
  const command: MoveMoney = {
    name,
    organizationId: organization.id,
    actor: actorOf(caller.who),
    newTransactionId: options.newTransactionId(),
    accountId: movement.account_id,
    amountCents: movement.amount,
    reference: movement.reference,
    description: movement.description,
    metadata: movement.metadata,
    rail: rail.name,
    isRailNamed: rail.isNamed,
    receipt: movement.receipt,
    destinationId: movement.destination_id,
    railTerms: rail.name === DIRECT_RAIL ? undefined : termsOf(name, movement, { cell, organization, options }),
    idempotencyKey: caller.idempotencyKey,
  };
  const submitted = cell.ledger.submit(command, deadline, { bulk, trace });
  return rail.name === DIRECT_RAIL ? submitted : pokeAfter(submitted, cell);
}

function parseChosenRail(unchecked: string, defaultRail: Rail): Parsed<ChosenRail> {
  if (unchecked === "") return parsed({ name: defaultRail, isNamed: false });
  const rail = parseRail(unchecked);
  return rail.ok ? parsed({ name: rail.value, isNamed: true }) : rail;
}

/** Parses a field that only an order to a rail has. On direct the caller pays by hand. */
function ifOrdered<Value>(
  unchecked: string,
  rail: Parsed<ChosenRail>,
  parse: (unchecked: string) => Parsed<Value>,
): Parsed<Value | undefined> {
  if (unchecked !== "" && rail.ok && rail.value.name === DIRECT_RAIL) {
    return unparsed("must not be sent with the rail direct", "CONFLICT");
  }
  return ifGiven(unchecked, parse);
}

/** A rail gives the receipts of what it moves. */
function parseReceiptOf(unchecked: Receipt | undefined, rail: Parsed<ChosenRail>): Parsed<RailReceipt | undefined> {
  if (unchecked === undefined) return parsed(undefined);
  if (rail.ok && rail.value.name !== DIRECT_RAIL)
    return unparsed("must not be sent with a rail other than direct", "CONFLICT");
  return parseReceipt(unchecked);
}

/** Returns undefined if the organization cannot use the rail. */
function termsOf(
  name: MoveMoney["name"],
  { rail, payer_phone_number: payerPhoneNumber }: Movement,
  { cell, organization, options }: { cell: ServedCell; organization: Caller["organization"]; options: MovementOptions },
): RailTerms | undefined {
  const account = cell.railAccounts.accountOf(organization.id, rail.name);
  // A rail that pays by files collects nothing: shillings come in by the statement of the bank.
  if (account === undefined || (name === "mint" && account.rail.writeFile !== undefined)) return undefined;
  const { phoneNumbers, destinations = {}, ...payable } = account.rail.capabilities(TYPES[name]);
  const { phoneCoolingMillis } = options;
  return { railAccountId: account.id, payable, phoneNumbers, payerPhoneNumber, phoneCoolingMillis, destinations };
}

const TYPES = { mint: "MINT", redeem: "REDEEM" } as const satisfies Record<MoveMoney["name"], TransactionType>;

async function pokeAfter(submitted: Promise<Outcome<Transaction>>, cell: ServedCell): Promise<Outcome<Transaction>> {
  const outcome = await submitted;
  if (outcome.kind === "done" && !outcome.replayed) cell.wake();
  return outcome;
}
