import { typeid } from "typeid-js";

import type { CorrectBook } from "../../src/domain/book-commands.js";
import type {
  AdvancePayment,
  BeginPayment,
  CancelTransaction,
  ClearFlag,
  CloseAccount,
  CompletePayment,
  CreateAccount,
  CreateApiKey,
  EraseAccount,
  FailPayment,
  FlagTransaction,
  FreezeAccount,
  MoveMoney,
  RejectProposal,
  ResolveTransaction,
  ResumeOrganization,
  RevokeApiKey,
  SetAccountTier,
  SetDefaultRail,
  SetLimits,
  SetPayouts,
  SetRailAccount,
  SuspendOrganization,
  UnfreezeAccount,
  UpdateAccount,
} from "../../src/domain/commands.js";
import type { Deposit, TypedReference } from "../../src/domain/deposit.js";
import type {
  AssignDeposit,
  EndReturn,
  NewIds,
  NumberAccount,
  ReceiveDeposit,
  RecordDeposit,
  RequireReceipts,
  ReturnDeposit,
  ReverseDeposit,
  UnassignDeposit,
} from "../../src/domain/deposits/deposit-commands.js";
import type { DestinationNumber } from "../../src/domain/destination.js";
import type { CreateDestination, RemoveDestination } from "../../src/domain/destination-commands.js";
import { type LimitChanges, parseTierName } from "../../src/domain/limits/limits.js";
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
import type { RecordCharge } from "../../src/domain/rail-commands.js";
import type { WatchRailAccount } from "../../src/domain/rail-commands.js";
import type { RecordReserve, SetReserveRules } from "../../src/domain/reserve-commands.js";
import type { RevealAccount } from "../../src/domain/reveal.js";
import type { ReverseByOperator, ReverseTransaction } from "../../src/domain/reverse-commands.js";
import type { Authority } from "../../src/domain/second-person.js";
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

export const TEST_ACTOR = "key_of_a_test" as Actor;
/**
 * A rail on which no transaction completes by itself: mints stay PENDING, redemptions stay held.
 */
/** Each receipt without a source is one of it. */
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

/** A person who decides alone. */
export const ALONE: Authority = {
  person: "amina" as Decider,
  mayApprove: true,
  groups: [],
  newProposalId: newProposalId(),
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

export function newProposalId(): ProposalId {
  return typeid("prp").toString() as string as ProposalId;
}

/** The parsed value. Throws where the test's own input is wrong. */
export function valid<T>(outcome: Parsed<T>): T {
  if (!outcome.ok) throw new Error(`the test's own value ${outcome.problem}`);
  return outcome.value;
}

export function newAccountId(): AccountId {
  return typeid("acc").toString() as string as AccountId;
}

export function newTransactionId(): TransactionId {
  return typeid("txn").toString() as string as TransactionId;
}

export function newDepositId(): DepositId {
  return typeid("dep").toString() as string as DepositId;
}

export function newFreezeId(): FreezeId {
  return typeid("frz").toString() as string as FreezeId;
}

export function newDestinationId(): DestinationId {
  return typeid("dst").toString() as string as DestinationId;
}

export function newOrganizationId(): OrganizationId {
  return typeid("org").toString() as string as OrganizationId;
}

export function createAccount(
  organizationId: OrganizationId,
  userId: string,
  given: Partial<CreateAccount> & { key?: string } = {},
): CreateAccount {
  const { key, ...rest } = given;
  return {
    name: "createAccount",
    organizationId,
    actor: TEST_ACTOR,
    newAccountId: newAccountId(),
    userId: valid(parseUserId(userId)),
    phoneNumber: "+254712345678" as PhoneNumber,
    email: NO_EMAIL,
    depositReferences: [],
    idempotencyKey: key === undefined ? undefined : valid(parseIdempotencyKey(key)),
    ...rest,
  };
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
  return {
    name,
    organizationId: movement.organizationId,
    actor: TEST_ACTOR,
    newTransactionId: newTransactionId(),
    accountId: movement.accountId,
    amountCents: valid(parseAmount(movement.amount)),
    reference: valid(parseReference(movement.reference)),
    description: valid(parseDescription(movement.description ?? "")),
    metadata: valid(parseMetadata(new Map(Object.entries(movement.metadata ?? {})))),
    rail: movement.rail ?? DIRECT_RAIL,
    ...((movement.rail ?? DIRECT_RAIL) === DIRECT_RAIL ? {} : { railTerms: { ...RAIL_TERMS, ...movement.terms } }),
    ...(movement.receipt === undefined ? {} : { receipt: receiptNamed(movement.receipt) }),
    idempotencyKey: movement.key === undefined ? undefined : valid(parseIdempotencyKey(movement.key)),
  };
}

export function freezeAccount(
  organizationId: OrganizationId,
  accountId: AccountId,
  given: Partial<FreezeAccount> & { key?: string } = {},
): FreezeAccount {
  const { key, ...rest } = given;
  return {
    name: "freezeAccount",
    organizationId,
    actor: TEST_ACTOR,
    newFreezeId: newFreezeId(),
    accountId,
    reason: "FRAUD",
    note: NO_REASON,
    idempotencyKey: key === undefined ? undefined : valid(parseIdempotencyKey(key)),
    ...rest,
  };
}

/** A till, unless told otherwise. */
export function createDestination(
  organizationId: OrganizationId,
  accountId: AccountId,
  given: Partial<CreateDestination> & { key?: string } = {},
): CreateDestination {
  const { key, ...rest } = given;
  return {
    name: "createDestination",
    organizationId,
    actor: TEST_ACTOR,
    newDestinationId: newDestinationId(),
    accountId,
    kind: "TILL",
    number: "5432321" as DestinationNumber,
    label: "rent" as Description,
    coolingMillis: 3_600_000,
    idempotencyKey: key === undefined ? undefined : valid(parseIdempotencyKey(key)),
    ...rest,
  };
}

export function removeDestination(
  organizationId: OrganizationId,
  accountId: AccountId,
  destinationId: DestinationId,
): RemoveDestination {
  return { name: "removeDestination", organizationId, actor: TEST_ACTOR, accountId, destinationId };
}

export function unfreezeAccount(
  organizationId: OrganizationId,
  accountId: AccountId,
  freezeId: FreezeId,
): UnfreezeAccount {
  const given = { organizationId, actor: TEST_ACTOR, authority: ALONE, note: NO_REASON };
  return { name: "unfreezeAccount", ...given, accountId, freezeId };
}

export function revealAccount(
  organizationId: OrganizationId,
  accountId: AccountId,
  given: Partial<RevealAccount> = {},
): RevealAccount {
  const why = { reason: "customer_called", note: "case 17" as StatusReason } as const;
  return { name: "revealAccount", organizationId, actor: TEST_ACTOR, accountId, ...why, ...given };
}

export function closeAccount(organizationId: OrganizationId, accountId: AccountId): CloseAccount {
  return { name: "closeAccount", organizationId, actor: TEST_ACTOR, accountId, note: NO_REASON, etag: undefined };
}

export function updateAccount(
  organizationId: OrganizationId,
  accountId: AccountId,
  changes: Partial<Pick<UpdateAccount, "phoneNumber" | "email" | "etag">> = {
    phoneNumber: "+254733111222" as PhoneNumber,
  },
): UpdateAccount {
  const { phoneNumber, email, etag } = changes;
  return { name: "updateAccount", organizationId, actor: TEST_ACTOR, accountId, phoneNumber, email, etag };
}

export function eraseAccount(organizationId: OrganizationId, accountId: AccountId): EraseAccount {
  return { name: "eraseAccount", organizationId, actor: TEST_ACTOR, authority: ALONE, accountId, note: NO_REASON };
}

export function setAccountTier(organizationId: OrganizationId, accountId: AccountId, tier = "small"): SetAccountTier {
  const given = { organizationId, actor: TEST_ACTOR, authority: ALONE, accountId, note: NO_REASON };
  return { name: "setAccountTier", ...given, tier: valid(parseTierName(tier)) };
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
): SetLimits {
  return {
    name: "setLimits",
    organizationId,
    actor: TEST_ACTOR,
    authority: ALONE,
    tier: tier === undefined ? undefined : valid(parseTierName(tier)),
    changes: changes === undefined ? undefined : { MINT: {}, REDEEM: {}, [type]: changes },
    note: NO_REASON,
  };
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
    description: valid(parseDescription(given.description ?? "")),
    metadata: valid(parseMetadata(new Map(Object.entries(given.metadata ?? {})))),
    ...(given.receipt === undefined ? {} : { receipt: receiptNamed(given.receipt) }),
    idempotencyKey: given.key === undefined ? undefined : valid(parseIdempotencyKey(given.key)),
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

export function cancel(organizationId: OrganizationId, transactionId: TransactionId): CancelTransaction {
  return { name: "cancelTransaction", organizationId, actor: TEST_ACTOR, transactionId, reason: NO_REASON };
}

export const movementNamed = (name: string): RailMovement => name as RailMovement;
export const receiptNamed = (name: string): RailReceipt => name as RailReceipt;

/** Most tests have no account at the rail: its revision is 0. */
export function beginPayment(
  organizationId: OrganizationId,
  transactionId: TransactionId,
  railRevision = 0,
): BeginPayment {
  const given = { organizationId, actor: TEST_ACTOR, transactionId, nextCheckAt: NO_DEADLINE };
  return { name: "beginPayment", ...given, railRevision };
}

export function advancePayment(
  name: AdvancePayment["name"],
  organizationId: OrganizationId,
  transactionId: TransactionId,
  sends = 1,
  isTurnedAway = false,
): AdvancePayment {
  const given = { organizationId, actor: TEST_ACTOR, transactionId, nextCheckAt: NO_DEADLINE };
  return name === "acceptPayment"
    ? { ...given, name, railReference: "ws_CO_1" as RailReference }
    : { ...given, name, sends, isTurnedAway };
}

/** A report that names a movement, a receipt, or both. */
export function completePayment(
  organizationId: OrganizationId,
  transactionId: TransactionId,
  report: { movement?: string; receipt?: string } & Partial<Pick<MovementReport, "amountCents" | "phone">>,
): CompletePayment {
  return {
    name: "completePayment",
    organizationId,
    actor: TEST_ACTOR,
    transactionId,
    newTransactionId: newTransactionId(),
    movement: report.movement,
    receipt: report.receipt,
    amountCents: report.amountCents,
    phone: report.phone,
    reason: NO_REASON,
  } as CompletePayment;
}

export function failPayment(
  organizationId: OrganizationId,
  transactionId: TransactionId,
  failure: FailPayment["failure"] = "WRONG_PIN",
): FailPayment {
  return { name: "failPayment", organizationId, actor: TEST_ACTOR, transactionId, failure, reason: NO_REASON };
}

export function flag(
  organizationId: OrganizationId,
  transactionId: TransactionId,
  reason: FlagReason = "OUTCOME_UNKNOWN",
): FlagTransaction {
  return {
    name: "flagTransaction",
    organizationId,
    actor: TEST_ACTOR,
    transactionId,
    flag: reason,
    reason: NO_REASON,
  };
}

export function clearFlag(organizationId: OrganizationId, transactionId: TransactionId, reason: FlagReason): ClearFlag {
  const given = { organizationId, actor: TEST_ACTOR, authority: ALONE, note: NO_REASON };
  return { name: "clearFlag", ...given, transactionId, flag: reason };
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

interface ByPerson {
  readonly person?: string | undefined;
}

function authorityOf({ person = "amina" }: ByPerson): Authority {
  return { ...ALONE, person: person as Decider, newProposalId: newProposalId() };
}

export function resolve(
  organizationId: OrganizationId,
  transactionId: TransactionId,
  resolution: Resolution,
  by: ByPerson = {},
): ResolveTransaction {
  return {
    name: "resolveTransaction",
    organizationId,
    actor: TEST_ACTOR,
    transactionId,
    newTransactionId: newTransactionId(),
    resolution,
    authority: authorityOf(by),
    note: NO_REASON,
  };
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
  const common = {
    organizationId,
    actor: TEST_ACTOR,
    authority: authorityOf(given),
    note: NO_REASON,
    amountCents: amountCents as Cents,
    idempotencyKey: valid(parseIdempotencyKey(key)),
  };
  switch (name) {
    case "coverShortfall":
      return { ...common, name };
    case "recoverShortfall":
    case "allocate":
      return { ...common, name, accountId: target as AccountId };
    case "returnUnallocated":
    case "bookReceipt":
      return { ...common, name, receipt: target as RailReceipt };
    case "bookPayment":
      return { ...common, name, receipt: target as RailReceipt, accountId };
    case "adjustMovement":
      return { ...common, name, movement: target ?? "r1", direction, accountId };
    case "explainTransfer":
    case "fundCharges":
      return { ...common, name, receipt: target as RailReceipt, direction };
  }
}

/** A charge of 0.05 for the movement with the receipt "r1". */
export function recordCharge(
  organizationId: OrganizationId,
  given: Partial<Omit<RecordCharge, "name" | "movement">> & { movement?: string } = {},
): RecordCharge {
  const { movement = "r1", ...rest } = given;
  const common = { name: "recordCharge", organizationId, actor: TEST_ACTOR } as const;
  return { ...common, direction: "out", amountCents: 5 as Cents, ...rest, movement: movement as RailReceipt };
}

/** The deposit reference of an account, by a number: 0, 1, 2 … */
export const depositReference = (number: number): DepositReference => depositReferenceOf(2_000_000 + number);

export function numberAccount(
  organizationId: OrganizationId,
  accountId: AccountId,
  depositReferences: readonly DepositReference[] = [depositReference(0)],
): NumberAccount {
  return { name: "numberAccount", organizationId, actor: TEST_ACTOR, accountId, depositReferences };
}

/** Shillings that the slow rail lists: 5.00 with the receipt "d1", and nothing typed. */
export function receiveDeposit(
  organizationId: OrganizationId,
  given: Partial<Omit<ReceiveDeposit, "name" | "receipt" | "typedReference">> & {
    receipt?: string;
    typed?: string;
  } = {},
): ReceiveDeposit {
  const { receipt = "d1", typed = "", ...rest } = given;
  return {
    name: "receiveDeposit",
    organizationId,
    actor: TEST_ACTOR,
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
    ...rest,
  };
}

/** Records 5.00 with the receipt "d1", for no account. */
export function recordDeposit(
  organizationId: OrganizationId,
  given: Partial<Omit<RecordDeposit, "name" | "receipt">> & { receipt?: string } & ByPerson = {},
): RecordDeposit {
  const { receipt = "d1", person, ...rest } = given;
  return {
    name: "recordDeposit",
    ...actOfPerson(organizationId, { person }),
    facts: newIds(),
    receipt: receiptNamed(receipt),
    amountCents: toCents(500),
    accountId: undefined,
    ...rest,
  };
}

export function assignDeposit(
  organizationId: OrganizationId,
  depositId: DepositId,
  accountId: AccountId,
  by: ByPerson = {},
): AssignDeposit {
  return { name: "assignDeposit", ...actOfPerson(organizationId, by), facts: newIds(), depositId, accountId };
}

/** Takes back the credit that the mint has made. */
export function unassignDeposit(
  organizationId: OrganizationId,
  depositId: DepositId,
  transactionId: TransactionId,
  by: ByPerson = {},
): UnassignDeposit {
  return { name: "unassignDeposit", ...actOfPerson(organizationId, by), facts: newIds(), depositId, transactionId };
}

export function returnDeposit(
  organizationId: OrganizationId,
  depositId: DepositId,
  receipt = "back1",
  by: ByPerson = {},
): ReturnDeposit {
  return { name: "returnDeposit", ...actOfPerson(organizationId, by), depositId, receipt: receiptNamed(receipt) };
}

/** Wants the rail to return a deposit. */
export function returnThroughRail(
  organizationId: OrganizationId,
  depositId: DepositId,
  by: ByPerson = {},
): ReturnDeposit {
  return { ...returnDeposit(organizationId, depositId, "", by), receipt: undefined };
}

/** Ends the return of a deposit: with a receipt, the rail has returned it. */
export function endReturn(
  { organizationId, id: depositId, updatedAt: begunAt }: Pick<Deposit, "organizationId" | "id" | "updatedAt">,
  receipt?: string,
): EndReturn {
  const said = { receipt: receipt === undefined ? undefined : receiptNamed(receipt), reason: NO_REASON };
  return { name: "endReturn", organizationId, actor: "mpesa" as Actor, depositId, begunAt, ...said };
}

/** Reverses a deposit, and the mint that has credited it, if there is one. */
export function reverseDeposit(
  organizationId: OrganizationId,
  depositId: DepositId,
  given: { transactionId?: TransactionId | undefined; receipt?: string } & ByPerson = {},
): ReverseDeposit {
  const { transactionId, receipt = "back1" } = given;
  const by = actOfPerson(organizationId, given);
  return {
    name: "reverseDeposit",
    ...by,
    facts: newIds(),
    depositId,
    transactionId,
    receipt: receiptNamed(receipt),
  };
}

function newIds(): NewIds {
  return { newDepositId: newDepositId(), newTransactionId: newTransactionId() };
}

function actOfPerson(organizationId: OrganizationId, by: ByPerson) {
  return { organizationId, actor: TEST_ACTOR, authority: authorityOf(by), note: NO_REASON };
}

export function suspension(
  name: "suspendOrganization" | "resumeOrganization",
  organizationId: OrganizationId,
): SuspendOrganization | ResumeOrganization {
  return { name, organizationId, actor: TEST_ACTOR, authority: ALONE, note: NO_REASON };
}

export function requireReceipts(organizationId: OrganizationId, isRequired = true): RequireReceipts {
  return { name: "requireReceipts", organizationId, actor: TEST_ACTOR, authority: ALONE, isRequired, note: NO_REASON };
}

export function createApiKey(organizationId: OrganizationId, given: Partial<CreateApiKey> = {}): CreateApiKey {
  const newKeyId = typeid("key").toString() as string as ApiKeyId;
  return {
    name: "createApiKey",
    organizationId,
    actor: TEST_ACTOR,
    authority: ALONE,
    newKeyId,
    label: "till",
    scopes: ["accounts:read"],
    expiresAt: undefined,
    secretSha256: newKeyId,
    ...given,
  };
}

/** Sets an account at a rail of an organization that has none. */
export function setRailAccount(
  organizationId: OrganizationId,
  given: Partial<Omit<SetRailAccount, "name">> = {},
): SetRailAccount {
  return {
    name: "setRailAccount",
    organizationId,
    actor: TEST_ACTOR,
    authority: ALONE,
    railAccountId: RAIL_TERMS.railAccountId,
    rail: SLOW_RAIL,
    settings: "{}",
    credentialsHmac: undefined,
    credentialsExpireAt: undefined,
    isDefault: false,
    beginWithinMillis: 1_000,
    confirmAboveCents: 0,
    resolveAloneMaxCents: 0,
    note: NO_REASON,
    facts: { accountsOfAll: "0:0", movesPlace: false },
    ...given,
  };
}

export function setDefaultRail(organizationId: OrganizationId, rail: Rail): SetDefaultRail {
  return { name: "setDefaultRail", organizationId, actor: TEST_ACTOR, authority: ALONE, rail, note: NO_REASON };
}

export function setPayouts(
  organizationId: OrganizationId,
  payouts: SetPayouts["payouts"],
  given: Partial<Omit<SetPayouts, "name">> = {},
): SetPayouts {
  const by = { organizationId, actor: TEST_ACTOR, authority: ALONE };
  return { name: "setPayouts", ...by, rail: SLOW_RAIL, payouts, note: NO_REASON, ...given };
}

export function setReserveRules(
  organizationId: OrganizationId,
  rules: SetReserveRules["rules"],
  given: Partial<Omit<SetReserveRules, "name">> = {},
): SetReserveRules {
  const by = { organizationId, actor: TEST_ACTOR, authority: ALONE };
  return { name: "setReserveRules", ...by, rules, note: NO_REASON, ...given };
}

export function watchRailAccount(
  organizationId: OrganizationId,
  given: Partial<Omit<WatchRailAccount, "name">> = {},
): WatchRailAccount {
  const by = { organizationId, actor: TEST_ACTOR };
  return { name: "watchRailAccount", ...by, rail: SLOW_RAIL, availableCents: undefined, ...given };
}

/** Records what lies in a place at the end of a day. */
export function recordReserve(
  organizationId: OrganizationId,
  place: string,
  given: Partial<Omit<RecordReserve, "name">> = {},
): RecordReserve {
  return {
    name: "recordReserve",
    organizationId,
    actor: TEST_ACTOR,
    authority: ALONE,
    place,
    amountCents: toCents(100),
    asOfDay: valid(parseNairobiDay("2026-11-01")),
    evidence: "statement",
    note: NO_REASON,
    ...given,
  };
}

export function revokeApiKey(organizationId: OrganizationId, keyId: ApiKeyId): RevokeApiKey {
  return { name: "revokeApiKey", organizationId, actor: TEST_ACTOR, authority: ALONE, keyId };
}

/** Rejects a proposal whose subject is its id, unless told otherwise. */
export function rejectProposal(
  organizationId: OrganizationId,
  proposalId: ProposalId,
  subject: string = proposalId,
): RejectProposal {
  const person = TEST_ACTOR as string as Decider;
  const given = { organizationId, actor: TEST_ACTOR, person, note: NO_REASON };
  return { name: "rejectProposal", ...given, proposalId, subject };
}
