import { typeid } from "typeid-js";

import type { Authority, NewIds } from "../../src/domain/authority.js";
import type { CorrectBook } from "../../src/domain/book/correct-book.js";
import type { Deposit, TypedReference } from "../../src/domain/deposit.js";
import type { PayIn } from "../../src/domain/deposits/record-deposits.js";
import type { DestinationNumber } from "../../src/domain/destination.js";
import { type LimitChanges, parseTierName } from "../../src/domain/limits/limits.js";
import type { MoveMoney } from "../../src/domain/money/move-money.js";
import type { ReverseByOperator, ReverseTransaction } from "../../src/domain/money/reverse-transaction.js";
import type { Command } from "../../src/domain/operations.js";
import type { AdvancePayment } from "../../src/domain/orders/advance-payment.js";
import type { CompletePayment } from "../../src/domain/orders/complete-payment.js";
import type { FailPayment } from "../../src/domain/orders/fail-payment.js";
import type {
  FlagReason,
  MovementReport,
  RailAccountId,
  RailMovement,
  RailReceipt,
  RailReference,
  RailTerms,
  Resolution,
} from "../../src/domain/payment.js";
import type { Decider } from "../../src/domain/proposal.js";
import type { RailAccountRecord } from "../../src/domain/rail-account.js";
import { DIRECT_RAIL, type Rail, type TransactionType } from "../../src/domain/transaction.js";
import { type Actor, OPERATOR } from "../../src/domain/values/actor.js";
import { type Cents, MAX_CENTS, parseAmount, toCents } from "../../src/domain/values/cents.js";
import { type DepositReference, depositReferenceOf } from "../../src/domain/values/deposit-reference.js";
import { NO_EMAIL } from "../../src/domain/values/email-address.js";
import type {
  AccountId,
  ApiKeyId,
  DepositId,
  DestinationId,
  FreezeId,
  OrganizationId,
  ProposalId,
  TransactionId,
  WebhookEndpointId,
} from "../../src/domain/values/ids.js";
import { parseNairobiDay } from "../../src/domain/values/nairobi-day.js";
import type { Parsed } from "../../src/domain/values/parsed.js";
import type { PhoneNumber } from "../../src/domain/values/phone-number.js";
import {
  type Description,
  type IdempotencyKey,
  NO_REASON,
  parseDescription,
  parseIdempotencyKey,
  parseMetadata,
  parseReference,
  parseUserId,
  type StatusReason,
} from "../../src/domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../src/domain/values/time.js";
import type { NewEndpoint } from "../../src/webhooks/ports/endpoints.js";

// Builders of commands with sensible defaults: a test says only what matters to it.

const newId = (prefix: string): string => typeid(prefix).toString();
export const newAccountId = (): AccountId => newId("acc") as AccountId;
export const newTransactionId = (): TransactionId => newId("txn") as TransactionId;
export const newDepositId = (): DepositId => newId("dep") as DepositId;
export const newFreezeId = (): FreezeId => newId("frz") as FreezeId;
export const newDestinationId = (): DestinationId => newId("dst") as DestinationId;
export const newOrganizationId = (): OrganizationId => newId("org") as OrganizationId;
export const newProposalId = (): ProposalId => newId("prp") as ProposalId;

export const TEST_ACTOR = "key_of_a_test" as Actor;
/**
 * A rail on which no transaction completes by itself: mints stay PENDING, redemptions stay held.
 * Each receipt without a source is one of it.
 */
export const SLOW_RAIL = "mpesa" as Rail;
/** The terms of that rail: any amount, to any phone number. */
export const RAIL_TERMS: RailTerms = {
  railAccountId: "rail account" as RailAccountId,
  payable: { minCents: toCents(1), maxCents: MAX_CENTS, stepCents: toCents(1) },
  phoneNumbers: /^\+/,
  payerPhoneNumber: undefined,
  phoneCoolingMillis: 0,
};
export const NO_DEADLINE = toUnixMillis(Number.MAX_SAFE_INTEGER);

/** Persons who have always had the role of every act. */
const ALWAYS_PROPOSERS = ["operator", "amina", "Amina", "brian", "carol", "dan", "mallory", "opr_a", "opr_b", "opr_c"];

/** A person who decides alone. */
export const ALONE: Authority = {
  person: "amina" as Decider,
  mayApprove: true,
  groups: [],
  newProposalId: newProposalId(),
  proposers: new Map(ALWAYS_PROPOSERS.map((person) => [person as Decider, toUnixMillis(0)])),
};

/** An account at a rail, as a book has it. One person may decide any amount. */
export function railAccount(organizationId: OrganizationId, given: Partial<RailAccountRecord> = {}): RailAccountRecord {
  return {
    id: RAIL_TERMS.railAccountId,
    organizationId,
    rail: SLOW_RAIL,
    settings: "{}",
    credentials: undefined,
    credentialsExpireAt: undefined,
    payouts: "auto",
    payoutsReason: "",
    isDefault: false,
    beginWithinMillis: 1_000,
    confirmAboveCents: 0,
    resolveAloneMaxCents: MAX_CENTS,
    floatMinCents: 0,
    revision: 1,
    warnings: {},
    createdAt: toUnixMillis(1),
    updatedAt: toUnixMillis(1),
    ...given,
  };
}

/** The parsed value. Throws where the test's own input is wrong. */
export function valid<T>(outcome: Parsed<T>): T {
  if (!outcome.ok) throw new Error(`the test's own value ${outcome.problem}`);
  return outcome.value;
}

type Named<C, Name> = C extends { readonly name: infer Own } ? (Name extends Own ? C : never) : never;
/** The command with this name. */
type CommandOf<Name extends Command["name"]> = Named<Command, Name>;
/** Fields in place of defaults. */
type Given<Name extends Command["name"]> = Partial<Omit<CommandOf<Name>, "name" | "organizationId">>;
type Keyed<Name extends Command["name"]> = Given<Name> & { readonly key?: string };

/** Returns the command by TEST_ACTOR, unless the fields name another actor. */
function act<Name extends Command["name"]>(
  name: Name,
  organizationId: OrganizationId,
  fields: Omit<CommandOf<Name>, "name" | "organizationId" | "actor">,
): CommandOf<Name> {
  return { name, organizationId, actor: TEST_ACTOR, ...fields } as unknown as CommandOf<Name>;
}

interface ByPerson {
  readonly person?: string | undefined;
}

/** Returns the command of a person, without a note. Without `by`, it is one who decides alone. */
function actOf<Name extends Command["name"]>(
  name: Name,
  organizationId: OrganizationId,
  fields: Omit<CommandOf<Name>, "name" | "organizationId" | "actor" | "authority" | "note">,
  by?: ByPerson,
): CommandOf<Name> {
  const authority = by === undefined ? ALONE : authorityOf(by);
  const given = { authority, note: NO_REASON, ...fields } as unknown as Parameters<typeof act<Name>>[2];
  return act(name, organizationId, given);
}

/** Each call has a proposal of its own. */
function authorityOf({ person = "amina" }: ByPerson): Authority {
  return { ...ALONE, person: person as Decider, newProposalId: newProposalId() };
}

function keyOf(key: string | undefined): IdempotencyKey | undefined {
  return key === undefined ? undefined : valid(parseIdempotencyKey(key));
}

function newIds(): NewIds {
  return { newDepositId: newDepositId(), newTransactionId: newTransactionId() };
}

export function createAccount(
  organizationId: OrganizationId,
  userId: string,
  { key, ...given }: Keyed<"createAccount"> = {},
): CommandOf<"createAccount"> {
  return act("createAccount", organizationId, {
    newAccountId: newAccountId(),
    userId: valid(parseUserId(userId)),
    phoneNumber: "+254712345678" as PhoneNumber,
    email: NO_EMAIL,
    depositReferences: [],
    idempotencyKey: keyOf(key),
    ...given,
  });
}

export interface Movement {
  readonly organizationId: OrganizationId;
  readonly accountId: AccountId;
  readonly amount: string;
  readonly reference: string;
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly key?: string;
  readonly receipt?: string;
  readonly rail?: MoveMoney["rail"];
  readonly terms?: Partial<RailTerms>;
}

export function mint(movement: Movement): MoveMoney {
  return moveMoney("mint", movement);
}

export function redeem(movement: Movement): MoveMoney {
  return moveMoney("redeem", movement);
}

function moveMoney(name: MoveMoney["name"], movement: Movement): MoveMoney {
  const { organizationId, accountId, receipt, rail = DIRECT_RAIL } = movement;
  return act(name, organizationId, {
    newTransactionId: newTransactionId(),
    accountId,
    amountCents: valid(parseAmount(movement.amount)),
    reference: valid(parseReference(movement.reference)),
    ...wordsOf(movement),
    rail,
    ...(rail === DIRECT_RAIL ? {} : { railTerms: { ...RAIL_TERMS, ...movement.terms } }),
    ...(receipt === undefined ? {} : { receipt: receiptNamed(receipt) }),
    idempotencyKey: keyOf(movement.key),
  });
}

function wordsOf({ description = "", metadata = {} }: Pick<Movement, "description" | "metadata">) {
  return {
    description: valid(parseDescription(description)),
    metadata: valid(parseMetadata(new Map(Object.entries(metadata)))),
  };
}

export function freezeAccount(
  organizationId: OrganizationId,
  accountId: AccountId,
  { key, ...given }: Keyed<"freezeAccount"> = {},
): CommandOf<"freezeAccount"> {
  const why = { reason: "FRAUD", note: NO_REASON } as const;
  const fields = { newFreezeId: newFreezeId(), accountId, ...why, idempotencyKey: keyOf(key) };
  return act("freezeAccount", organizationId, { ...fields, ...given });
}

/** A till, unless told otherwise. */
export function createDestination(
  organizationId: OrganizationId,
  accountId: AccountId,
  { key, ...given }: Keyed<"createDestination"> = {},
): CommandOf<"createDestination"> {
  return act("createDestination", organizationId, {
    newDestinationId: newDestinationId(),
    accountId,
    kind: "TILL",
    number: "5432321" as DestinationNumber,
    label: "rent" as Description,
    coolingMillis: 3_600_000,
    idempotencyKey: keyOf(key),
    ...given,
  });
}

export function removeDestination(
  organizationId: OrganizationId,
  accountId: AccountId,
  destinationId: DestinationId,
): CommandOf<"removeDestination"> {
  return act("removeDestination", organizationId, { accountId, destinationId });
}

export function unfreezeAccount(
  organizationId: OrganizationId,
  accountId: AccountId,
  freezeId: FreezeId,
): CommandOf<"unfreezeAccount"> {
  return actOf("unfreezeAccount", organizationId, { accountId, freezeId });
}

export function revealAccount(
  organizationId: OrganizationId,
  accountId: AccountId,
  given: Given<"revealAccount"> = {},
): CommandOf<"revealAccount"> {
  const why = { reason: "customer_called", note: "case 17" as StatusReason } as const;
  return act("revealAccount", organizationId, { accountId, ...why, ...given });
}

export function closeAccount(organizationId: OrganizationId, accountId: AccountId): CommandOf<"closeAccount"> {
  return act("closeAccount", organizationId, { accountId, note: NO_REASON, etag: undefined });
}

export function updateAccount(
  organizationId: OrganizationId,
  accountId: AccountId,
  changes: Given<"updateAccount"> = { phoneNumber: "+254733111222" as PhoneNumber },
): CommandOf<"updateAccount"> {
  const unchanged = { phoneNumber: undefined, email: undefined, etag: undefined, isOfOperator: false };
  return act("updateAccount", organizationId, { accountId, ...unchanged, ...changes });
}

export function eraseAccount(organizationId: OrganizationId, accountId: AccountId): CommandOf<"eraseAccount"> {
  return actOf("eraseAccount", organizationId, { accountId });
}

export function setAccountTier(
  organizationId: OrganizationId,
  accountId: AccountId,
  tier = "small",
): CommandOf<"setAccountTier"> {
  return actOf("setAccountTier", organizationId, { accountId, tier: valid(parseTierName(tier)) });
}

/** Sets limits of mints, unless told otherwise: those of the organization, or those of a tier. */
export function setLimits(
  organizationId: OrganizationId,
  {
    tier,
    type = "MINT",
    changes,
  }: {
    readonly tier?: string | undefined;
    readonly type?: TransactionType;
    /** Undefined removes them all. */
    readonly changes: LimitChanges["MINT"] | undefined;
  },
): CommandOf<"setLimits"> {
  return actOf("setLimits", organizationId, {
    tier: tier === undefined ? undefined : valid(parseTierName(tier)),
    changes: changes === undefined ? undefined : { MINT: {}, REDEEM: {}, [type]: changes },
  });
}

/** Reverses a transaction, without words unless told otherwise. */
export function reverse(
  organizationId: OrganizationId,
  transactionId: TransactionId,
  given: Pick<Partial<Movement>, "description" | "metadata" | "receipt" | "key"> = {},
): ReverseTransaction {
  return {
    name: "reverseTransaction",
    organizationId,
    actor: TEST_ACTOR,
    transactionId,
    newTransactionId: newTransactionId(),
    ...wordsOf(given),
    ...(given.receipt === undefined ? {} : { receipt: receiptNamed(given.receipt) }),
    idempotencyKey: keyOf(given.key),
  };
}

/** The same on the word of an operator. */
export function reverseByOperator(
  organizationId: OrganizationId,
  transactionId: TransactionId,
  authority: Partial<Authority> = {},
): ReverseByOperator {
  return {
    name: "reverseTransaction",
    organizationId,
    actor: OPERATOR,
    authority: { ...ALONE, ...authority },
    transactionId,
    receipt: undefined,
    note: "paid twice" as StatusReason,
    facts: { newTransactionId: newTransactionId() },
  };
}

export function cancel(organizationId: OrganizationId, transactionId: TransactionId): CommandOf<"cancelTransaction"> {
  return act("cancelTransaction", organizationId, { transactionId, reason: NO_REASON });
}

export const movementNamed = (name: string): RailMovement => name as RailMovement;
export const receiptNamed = (name: string): RailReceipt => name as RailReceipt;

/** Most tests have no account at the rail: its revision is 0. */
export function beginPayment(
  organizationId: OrganizationId,
  transactionId: TransactionId,
  railRevision = 0,
): CommandOf<"beginPayment"> {
  return act("beginPayment", organizationId, { transactionId, nextCheckAt: NO_DEADLINE, railRevision });
}

export function advancePayment(
  name: AdvancePayment["name"],
  organizationId: OrganizationId,
  transactionId: TransactionId,
  sends = 1,
  isTurnedAway = false,
): AdvancePayment {
  const given = { transactionId, nextCheckAt: NO_DEADLINE };
  return name === "acceptPayment"
    ? act(name, organizationId, { ...given, railReference: "ws_CO_1" as RailReference })
    : act(name, organizationId, { ...given, sends, isTurnedAway });
}

/** A report that names a movement, a receipt, or both. */
export function completePayment(
  organizationId: OrganizationId,
  transactionId: TransactionId,
  report: { movement?: string; receipt?: string } & Partial<Pick<MovementReport, "amountCents" | "phone">>,
): CompletePayment {
  const { movement, receipt, amountCents, phone } = report;
  const said = { movement, receipt, amountCents, phone, reason: NO_REASON };
  const newId = newTransactionId();
  return act("completePayment", organizationId, { transactionId, newTransactionId: newId, ...said } as CompletePayment);
}

export function failPayment(
  organizationId: OrganizationId,
  transactionId: TransactionId,
  failure: FailPayment["failure"] = "WRONG_PIN",
): CommandOf<"failPayment"> {
  return act("failPayment", organizationId, { transactionId, failure, reason: NO_REASON });
}

export function flag(
  organizationId: OrganizationId,
  transactionId: TransactionId,
  reason: FlagReason = "OUTCOME_UNKNOWN",
): CommandOf<"flagTransaction"> {
  return act("flagTransaction", organizationId, { transactionId, flag: reason, reason: NO_REASON });
}

export function clearFlag(
  organizationId: OrganizationId,
  transactionId: TransactionId,
  reason: FlagReason,
): CommandOf<"clearFlag"> {
  return actOf("clearFlag", organizationId, { transactionId, flag: reason });
}

/** Everything that a new webhook endpoint needs. Its number stands in its id and its address. */
export function newEndpoint(organizationId: OrganizationId, number: number, now: UnixMillis): NewEndpoint {
  return {
    organizationId,
    actor: TEST_ACTOR,
    now,
    id: `whk_${String(number)}` as WebhookEndpointId,
    url: `https://localhost/${String(number)}`,
    types: undefined,
    description: valid(parseDescription("")),
    secret: { base64: "c2VjcmV0", validUntil: undefined },
  };
}

export function resolve(
  organizationId: OrganizationId,
  transactionId: TransactionId,
  resolution: Resolution,
  by: ByPerson = {},
): CommandOf<"resolveTransaction"> {
  const facts = { newTransactionId: newTransactionId(), note: NO_REASON };
  const authority = { ...authorityOf(by), isOfKey: true } as const;
  return act("resolveTransaction", organizationId, { authority, transactionId, resolution, facts });
}

/** A correction of the book. `target` is the account or the receipt, if it needs one. */
export function correctBook(
  name: CorrectBook["name"],
  organizationId: OrganizationId,
  given: {
    amountCents: number;
    key: string;
    target?: string;
    account?: AccountId | undefined;
    direction?: "in" | "out";
  } & ByPerson,
): CorrectBook {
  const { amountCents, key, target, account: accountId, direction = "out" } = given;
  const fields = { amountCents: amountCents as Cents, idempotencyKey: valid(parseIdempotencyKey(key)) };
  const receipt = receiptNamed(target ?? "");
  switch (name) {
    case "coverShortfall":
      return actOf(name, organizationId, fields, given);
    case "recoverShortfall":
    case "allocate":
      return actOf(name, organizationId, { ...fields, accountId: target as AccountId }, given);
    case "returnUnallocated":
    case "bookReceipt":
      return actOf(name, organizationId, { ...fields, receipt }, given);
    case "bookPayment":
      return actOf(name, organizationId, { ...fields, receipt, accountId }, given);
    case "adjustMovement":
      return actOf(name, organizationId, { ...fields, movement: target ?? "r1", direction, accountId }, given);
    case "explainTransfer":
    case "fundCharges":
      return actOf(name, organizationId, { ...fields, receipt, direction }, given);
  }
}

/** A charge of 0.05 for the movement with the receipt "r1". */
export function recordCharge(
  organizationId: OrganizationId,
  { movement = "r1", ...given }: Omit<Given<"recordCharge">, "movement"> & { movement?: string } = {},
): CommandOf<"recordCharge"> {
  const fields = { direction: "out", amountCents: 5 as Cents, movement: receiptNamed(movement) } as const;
  return act("recordCharge", organizationId, { ...fields, ...given });
}

/** The deposit reference of an account, by a number: 0, 1, 2 … */
export const depositReference = (number: number): DepositReference => depositReferenceOf(2_000_000 + number);

/** Shillings that the slow rail lists: 5.00 with the receipt "d1", and nothing typed. */
export function receiveDeposit(
  organizationId: OrganizationId,
  given: Omit<Given<"receiveDeposit">, "receipt" | "typedReference"> & { receipt?: string; typed?: string } = {},
): CommandOf<"receiveDeposit"> {
  const { receipt = "d1", typed = "", ...others } = given;
  return act("receiveDeposit", organizationId, {
    ...newIds(),
    rail: SLOW_RAIL,
    railAccountId: RAIL_TERMS.railAccountId,
    receipt: receiptNamed(receipt),
    amountCents: toCents(500),
    typedReference: typed as TypedReference,
    orderId: undefined,
    confirmedReceipts: [],
    phone: undefined,
    paidAt: undefined,
    ...others,
  });
}

/** Records 5.00 with the receipt "d1", for no account. */
export function recordDeposit(
  organizationId: OrganizationId,
  given: Omit<Given<"recordDeposit">, "receipt"> & { receipt?: string } & ByPerson = {},
): CommandOf<"recordDeposit"> {
  const { receipt: named = "d1", person, ...others } = given;
  const fields = { facts: newIds(), receipt: receiptNamed(named), amountCents: toCents(500), accountId: undefined };
  return actOf("recordDeposit", organizationId, { ...fields, ...others }, { person });
}

/** Records pay-ins of the slow rail: 5.00 each without a reference, if nothing else is given. */
export function recordDeposits(
  organizationId: OrganizationId,
  payIns: readonly (Partial<Omit<PayIn, "receipt">> & { readonly receipt: string })[],
  { person, ...given }: Given<"recordDeposits"> & ByPerson = {},
): CommandOf<"recordDeposits"> {
  const fields = {
    facts: { ofParts: payIns.map(newIds) },
    rail: SLOW_RAIL,
    payIns: payIns.map(({ receipt, ...others }): PayIn => {
      return { amountCents: toCents(500), reference: "NONE", ...others, receipt: receiptNamed(receipt) };
    }),
  };
  return actOf("recordDeposits", organizationId, { ...fields, ...given }, { person });
}

/** Completes orders, each with a receipt and its amount. */
export function resolveTransactions(
  organizationId: OrganizationId,
  results: readonly (readonly [id: TransactionId, receipt: string, amountCents: number])[],
  { person, ...given }: Given<"resolveTransactions"> & ByPerson = {},
): CommandOf<"resolveTransactions"> {
  const fields = {
    facts: newIds(),
    results: results.map(([transactionId, receipt, amountCents]) => {
      return { transactionId, receipt: receiptNamed(receipt), amountCents: toCents(amountCents) };
    }),
  };
  return actOf("resolveTransactions", organizationId, { ...fields, ...given }, { person });
}

/** Returns an act on a deposit as the machine's: no API key has one. Any other command stays. */
export function asOperator<C extends Command>(command: C): C {
  if (!("authority" in command) || !/Deposits?$/.test(command.name)) return command;
  const { authority, actor } = command;
  const person = authority.person === ALONE.person ? (OPERATOR as string as Decider) : authority.person;
  return { ...command, actor: actor === TEST_ACTOR ? OPERATOR : actor, authority: { ...authority, person } };
}

export function assignDeposit(
  organizationId: OrganizationId,
  depositId: DepositId,
  accountId: AccountId,
  by: ByPerson = {},
): CommandOf<"assignDeposit"> {
  return actOf("assignDeposit", organizationId, { facts: newIds(), depositId, accountId }, by);
}

/** Takes back the credit that the mint has made. */
export function unassignDeposit(
  organizationId: OrganizationId,
  depositId: DepositId,
  transactionId: TransactionId,
  by: ByPerson = {},
): CommandOf<"unassignDeposit"> {
  return actOf("unassignDeposit", organizationId, { facts: newIds(), depositId, transactionId }, by);
}

export function returnDeposit(
  organizationId: OrganizationId,
  depositId: DepositId,
  receipt = "back1",
  by: ByPerson = {},
): CommandOf<"returnDeposit"> {
  return actOf("returnDeposit", organizationId, { depositId, receipt: receiptNamed(receipt) }, by);
}

/** Wants the rail to return a deposit. */
export function returnThroughRail(
  organizationId: OrganizationId,
  depositId: DepositId,
  by: ByPerson = {},
): CommandOf<"returnDeposit"> {
  return actOf("returnDeposit", organizationId, { depositId, receipt: undefined }, by);
}

/** Ends the return of a deposit: with a receipt, the rail has returned it. */
export function endReturn(
  { organizationId, id: depositId, updatedAt: begunAt }: Pick<Deposit, "organizationId" | "id" | "updatedAt">,
  named?: string,
): CommandOf<"endReturn"> {
  const receipt = named === undefined ? undefined : receiptNamed(named);
  const end = act("endReturn", organizationId, { depositId, begunAt, receipt, reason: NO_REASON });
  return { ...end, actor: "mpesa" as Actor };
}

/** Reverses a deposit, and the mint that has credited it, if there is one. */
export function reverseDeposit(
  organizationId: OrganizationId,
  depositId: DepositId,
  given: { transactionId?: TransactionId | undefined; receipt?: string } & ByPerson = {},
): CommandOf<"reverseDeposit"> {
  const { transactionId, receipt = "back1", person } = given;
  const fields = { facts: newIds(), depositId, transactionId, receipt: receiptNamed(receipt) };
  return actOf("reverseDeposit", organizationId, fields, { person });
}

export function suspension(
  name: "suspendOrganization" | "resumeOrganization",
  organizationId: OrganizationId,
): CommandOf<typeof name> {
  return actOf(name, organizationId, {});
}

export function requireReceipts(organizationId: OrganizationId, isRequired = true): CommandOf<"requireReceipts"> {
  return actOf("requireReceipts", organizationId, { isRequired });
}

export function createApiKey(
  organizationId: OrganizationId,
  given: Given<"createApiKey"> = {},
): CommandOf<"createApiKey"> {
  const newKeyId = newId("key") as ApiKeyId;
  return act("createApiKey", organizationId, {
    authority: ALONE,
    newKeyId,
    label: "till",
    scopes: ["accounts:read"],
    expiresAt: undefined,
    secretSha256: newKeyId,
    ...given,
  });
}

/** Sets an account at a rail of an organization that has none. */
export function setRailAccount(
  organizationId: OrganizationId,
  given: Given<"setRailAccount"> = {},
): CommandOf<"setRailAccount"> {
  return actOf("setRailAccount", organizationId, {
    railAccountId: RAIL_TERMS.railAccountId,
    rail: SLOW_RAIL,
    settings: "{}",
    credentialsHmac: undefined,
    credentialsExpireAt: undefined,
    isDefault: false,
    beginWithinMillis: 1_000,
    confirmAboveCents: 0,
    resolveAloneMaxCents: 0,
    floatMinCents: 0,
    facts: { accountsOfAll: "0:0", movesPlace: false },
    ...given,
  });
}

export function setDefaultRail(organizationId: OrganizationId, rail: Rail): CommandOf<"setDefaultRail"> {
  return actOf("setDefaultRail", organizationId, { rail });
}

export function setPayouts(
  organizationId: OrganizationId,
  payouts: RailAccountRecord["payouts"],
  given: Given<"setPayouts"> = {},
): CommandOf<"setPayouts"> {
  return actOf("setPayouts", organizationId, { rail: SLOW_RAIL, payouts, ...given });
}

export function setReserveRules(
  organizationId: OrganizationId,
  rules: CommandOf<"setReserveRules">["rules"],
  given: Given<"setReserveRules"> = {},
): CommandOf<"setReserveRules"> {
  return actOf("setReserveRules", organizationId, { rules, ...given });
}

export function watchRailAccount(
  organizationId: OrganizationId,
  given: Given<"watchRailAccount"> = {},
): CommandOf<"watchRailAccount"> {
  return act("watchRailAccount", organizationId, { rail: SLOW_RAIL, availableCents: undefined, ...given });
}

/** Records what lies in a place at the end of a day. */
export function recordReserve(
  organizationId: OrganizationId,
  place: string,
  given: Given<"recordReserve"> = {},
): CommandOf<"recordReserve"> {
  const asOfDay = valid(parseNairobiDay("2026-11-01"));
  const kind = { kind: "other", documentSha256: undefined, maturesOn: undefined } as const;
  const figure = { place, amountCents: toCents(100), asOfDay, evidence: "statement", ...kind };
  return actOf("recordReserve", organizationId, { ...figure, ...given });
}

export function revokeApiKey(organizationId: OrganizationId, keyId: ApiKeyId): CommandOf<"revokeApiKey"> {
  return act("revokeApiKey", organizationId, { authority: ALONE, keyId });
}

/** Rejects a proposal whose subject is its id, unless told otherwise. */
export function rejectProposal(
  organizationId: OrganizationId,
  proposalId: ProposalId,
  subject: string = proposalId,
): CommandOf<"rejectProposal"> {
  const person = TEST_ACTOR as string as Decider;
  return act("rejectProposal", organizationId, { person, note: NO_REASON, proposalId, subject });
}
