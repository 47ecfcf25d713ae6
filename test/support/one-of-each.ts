import type { DestinationNumber } from "../../src/domain/destination.js";
import type { Command } from "../../src/domain/operations.js";
import type { RailAccountId } from "../../src/domain/payment.js";
import type { Rail } from "../../src/domain/transaction.js";
import { MAX_CENTS, toCents } from "../../src/domain/values/cents.js";
import type { ApiKeyId, OrganizationId, TransactionId } from "../../src/domain/values/ids.js";
import { maskPhone } from "../../src/domain/values/masked-phone.js";
import type { PhoneNumber } from "../../src/domain/values/phone-number.js";
import {
  advancePayment,
  ALONE,
  asOperator,
  assignDeposit,
  beginPayment,
  cancel,
  clearFlag,
  closeAccount,
  completePayment,
  correctBook,
  createAccount,
  createApiKey,
  createDestination,
  depositReference,
  endReturn,
  eraseAccount,
  failPayment,
  flag,
  freezeAccount,
  mint,
  newProposalId,
  receiptNamed,
  receiveDeposit,
  recordCharge,
  recordDeposit,
  recordDeposits,
  recordReserve,
  redeem,
  rejectProposal,
  removeDestination,
  requireReceipts,
  resolve,
  resolveTransactions,
  returnThroughRail,
  revealAccount,
  reverse,
  reverseDeposit,
  revokeApiKey,
  setAccountTier,
  setDefaultRail,
  setLimits,
  setPayouts,
  setRailAccount,
  setReserveRules,
  SLOW_RAIL,
  suspension,
  unassignDeposit,
  unfreezeAccount,
  updateAccount,
  watchRailAccount,
} from "./commands.js";
import { NOW } from "./given.js";

/** One command of each operation. They are done in this order, after `setup`. */
export function oneOfEach(organizationId: OrganizationId): {
  readonly setup: readonly Command[];
  readonly operations: readonly Command[];
} {
  const account = createAccount(organizationId, "user", { key: "account" });
  const { newAccountId: accountId } = account;
  const empty = createAccount(organizationId, "empty");
  const deposit = mint({ organizationId, accountId, amount: "5.00", reference: "in", metadata: { till: "7" } });
  const pending = redeem({ organizationId, accountId, amount: "2.00", reference: "out", rail: SLOW_RAIL, key: "out" });
  const rail = givenOrders(organizationId);
  const [begun, unbegun, flagged, unknown, lost] = rail.orders;
  const railUser = rail.accountId;
  const freeze = freezeAccount(organizationId, accountId, { key: "freeze" });
  const newKeyId = "key_1" as ApiKeyId;
  // Its group needs a second person, so it waits.
  const wanted = createApiKey(organizationId, {
    scopes: ["accounts:write"],
    secretSha256: "b".repeat(64),
    authority: { ...ALONE, groups: ["write_keys"], newProposalId: newProposalId() },
  });
  const received = receiveDeposit(organizationId, {
    receipt: "r8",
    typed: "tomatoes",
    phone: maskPhone("+254712345678" as PhoneNumber),
    paidAt: NOW,
  });
  const recorded = recordDeposit(organizationId, { receipt: "r9", accountId: railUser });
  const assigned = assignDeposit(organizationId, received.newDepositId, railUser);
  const { newTransactionId: creditId } = assigned.facts;
  const destination = createDestination(organizationId, accountId, { key: "destination" });
  const second = createDestination(organizationId, empty.newAccountId, { number: "5432322" as DestinationNumber });
  const operations = {
    setLimits: setLimits(organizationId, { tier: "small", changes: { DAY: toCents(100_000) } }),
    createAccount: account,
    mint: deposit,
    redeem: pending,
    cancelTransaction: cancel(organizationId, pending.newTransactionId),
    reverseTransaction: reverse(organizationId, deposit.newTransactionId, { description: "twice", key: "undo" }),
    freezeAccount: freeze,
    unfreezeAccount: unfreezeAccount(organizationId, accountId, freeze.newFreezeId),
    createDestination: destination,
    removeDestination: removeDestination(organizationId, accountId, destination.newDestinationId),
    revealAccount: revealAccount(organizationId, accountId),
    updateAccount: updateAccount(organizationId, empty.newAccountId),
    closeAccount: closeAccount(organizationId, empty.newAccountId),
    eraseAccount: eraseAccount(organizationId, empty.newAccountId),
    setAccountTier: setAccountTier(organizationId, railUser),
    beginPayment: beginPayment(organizationId, begun, 1),
    postponePayment: advancePayment("postponePayment", organizationId, begun),
    acceptPayment: advancePayment("acceptPayment", organizationId, begun),
    flagTransaction: flag(organizationId, begun),
    completePayment: completePayment(organizationId, begun, { movement: "m1", receipt: "r1" }),
    failPayment: failPayment(organizationId, unbegun),
    clearFlag: clearFlag(organizationId, flagged, "OUTCOME_UNKNOWN"),
    resolveTransaction: resolve(organizationId, unknown, { kind: "COMPLETED", receipt: receiptNamed("r2") }),
    resolveTransactions: resolveTransactions(organizationId, [[lost, "r16", 100]]),
    receiveDeposit: received,
    assignDeposit: assigned,
    unassignDeposit: unassignDeposit(organizationId, received.newDepositId, creditId),
    returnDeposit: returnThroughRail(organizationId, received.newDepositId),
    endReturn: endReturn({ organizationId, id: received.newDepositId, updatedAt: NOW }, "r10"),
    recordDeposit: recorded,
    recordDeposits: recordDeposits(organizationId, [
      { receipt: "r13", reference: depositReference(0) },
      { receipt: "r14" },
      { receipt: "r15", reference: depositReference(0) },
    ]),
    reverseDeposit: reverseDeposit(organizationId, recorded.facts.newDepositId, {
      transactionId: recorded.facts.newTransactionId,
      receipt: "r11",
    }),
    coverShortfall: correctBook("coverShortfall", organizationId, { amountCents: 50, key: "cover" }),
    recoverShortfall: correctBook("recoverShortfall", organizationId, {
      amountCents: 50,
      key: "recover",
      target: railUser,
    }),
    bookReceipt: correctBook("bookReceipt", organizationId, { amountCents: 300, key: "book", target: "r3" }),
    bookPayment: correctBook("bookPayment", organizationId, { amountCents: 5, key: "paid", target: "r6" }),
    adjustMovement: correctBook("adjustMovement", organizationId, { amountCents: 5, key: "adjust", target: "r3" }),
    explainTransfer: correctBook("explainTransfer", organizationId, { amountCents: 5, key: "bank", target: "r7" }),
    fundCharges: correctBook("fundCharges", organizationId, { amountCents: 5, key: "fund", target: "r12" }),
    recordCharge: recordCharge(organizationId, { movement: "r3" }),
    allocate: correctBook("allocate", organizationId, { amountCents: 100, key: "allocate", target: railUser }),
    returnUnallocated: correctBook("returnUnallocated", organizationId, {
      amountCents: 100,
      key: "return",
      target: "r4",
    }),
    requireReceipts: requireReceipts(organizationId),
    suspendOrganization: suspension("suspendOrganization", organizationId),
    resumeOrganization: suspension("resumeOrganization", organizationId),
    createApiKey: createApiKey(organizationId, { newKeyId, secretSha256: "a".repeat(64) }),
    revokeApiKey: revokeApiKey(organizationId, newKeyId),
    rejectProposal: rejectProposal(organizationId, wanted.authority.newProposalId),
    setRailAccount: setRailAccount(organizationId, {
      railAccountId: MADE,
      rail: MADE_RAIL,
      floatMinCents: toCents(1),
      facts: ONE_ACCOUNT,
    }),
    setDefaultRail: setDefaultRail(organizationId, MADE_RAIL),
    setPayouts: setPayouts(organizationId, "closed", { rail: MADE_RAIL }),
    recordReserve: recordReserve(organizationId, "KCB 1234"),
    setReserveRules: setReserveRules(organizationId, [{ kind: "cash", shareMax: 5, staleAfterDays: 1 }]),
    watchRailAccount: watchRailAccount(organizationId, { rail: MADE_RAIL, availableCents: 0 }),
  } satisfies Record<Command["name"], Command>;
  // It lets one person decide.
  const lenient = setRailAccount(organizationId, { resolveAloneMaxCents: MAX_CENTS });
  return {
    setup: [empty, second, ...rail.setup, wanted, lenient],
    operations: Object.values(operations).map(asOperator),
  };
}

type FiveIds = readonly [TransactionId, TransactionId, TransactionId, TransactionId, TransactionId];

const MADE = "rail_made" as RailAccountId;
const MADE_RAIL = "made" as Rail;
const ONE_ACCOUNT = { accountsOfAll: "1:1", movesPlace: false };

/** An account with orders in several states, and a shortfall of 1.00. */
function givenOrders(organizationId: OrganizationId) {
  const user = createAccount(organizationId, "rail", { depositReferences: [depositReference(0)] });
  const { newAccountId: accountId } = user;
  const movement = { organizationId, accountId, rail: SLOW_RAIL, amount: "1.00" };
  const [begun, unbegun, flagged, unknown, paidLate, lost] = [
    mint({ ...movement, reference: "begun" }),
    redeem({ ...movement, reference: "unbegun" }),
    mint({ ...movement, reference: "flagged" }),
    redeem({ ...movement, reference: "unknown" }),
    redeem({ ...movement, reference: "paid late" }),
    redeem({ ...movement, reference: "lost" }),
  ];
  const lateId = paidLate.newTransactionId;
  const setup: Command[] = [
    user,
    mint({ organizationId, accountId, amount: "1.00", reference: "first" }),
    paidLate,
    failPayment(organizationId, lateId),
    redeem({ organizationId, accountId, amount: "1.00", reference: "all" }),
    completePayment(organizationId, lateId, { movement: "late" }),
    mint({ organizationId, accountId, amount: "10.00", reference: "more" }),
    begun,
    unbegun,
    flagged,
    flag(organizationId, flagged.newTransactionId),
    unknown,
    beginPayment(organizationId, unknown.newTransactionId),
    flag(organizationId, unknown.newTransactionId),
    lost,
    beginPayment(organizationId, lost.newTransactionId),
  ];
  const orders = [begun, unbegun, flagged, unknown, lost] as const;
  return { setup, accountId, orders: orders.map(({ newTransactionId }) => newTransactionId) as unknown as FiveIds };
}
