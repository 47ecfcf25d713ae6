import { type Authority, BOOK_GROUPS, WIDENS_ALONE } from "../../src/domain/authority.js";
import { parseTierName } from "../../src/domain/limits/limits.js";
import type { Command, OperatorCommand } from "../../src/domain/operations.js";
import type { Decider } from "../../src/domain/proposal.js";
import type { ReserveRule } from "../../src/domain/reserve.js";
import { toCents } from "../../src/domain/values/cents.js";
import { parseNairobiDay } from "../../src/domain/values/nairobi-day.js";
import type { StatusReason } from "../../src/domain/values/text.js";
import type { Loaded } from "../../src/ledger/ports/store.js";
import {
  ALONE,
  assignDeposit,
  correctBook,
  createApiKey,
  depositReference,
  endReturn,
  eraseAccount,
  freezeAccount,
  newFreezeId,
  newProposalId,
  railAccount,
  recordDeposit,
  recordDeposits,
  recordReserve,
  requireReceipts,
  resolve,
  resolveTransactions,
  returnDeposit,
  returnThroughRail,
  reverseByOperator,
  reverseDeposit,
  setAccountTier,
  setDefaultRail,
  setLimits,
  setPayouts,
  setRailAccount,
  setReserveRules,
  suspension,
  unassignDeposit,
  unfreezeAccount,
  valid,
} from "./commands.js";
import {
  EARLIER,
  givenAccount,
  givenDeposit,
  givenFreeze,
  givenHead,
  givenPayment,
  givenPending,
  givenTransaction,
  NOW,
  ORGANIZATION,
} from "./given.js";

/** The commands that one person always does: no proposal has one. */
type OfOnePerson = "suspendOrganization" | "revokeApiKey" | "clearFlag";
export type Proposed = Exclude<OperatorCommand, { readonly name: OfOnePerson }>;

export interface Kind {
  readonly rows: Partial<Loaded>;
  readonly command: Proposed;
  /** What the second person is shown: "thing: before > after". */
  readonly shown: readonly string[];
  /**
   * Later commands that change the same thing, and at last make of it what stood before. For what
   * is new, or happens once, the reason why there are none.
   */
  readonly thereAndBack: readonly Command[] | string;
  /** What has changed before the approval, and the difference that refuses it. */
  readonly changed?: readonly [rows: Partial<Loaded>, what: string, before: string, now: string];
}

const account = givenAccount({ tier: "small" as never });
const frozen = givenAccount({ status: "FROZEN" });
const empty = givenAccount({ availableCents: toCents(0), heldCents: toCents(0) });
const freezes = [
  givenFreeze({ accountId: frozen.id, reason: "FRAUD", note: "case 7" as StatusReason }),
  givenFreeze({ accountId: frozen.id, reason: "CUSTOMER_REQUEST" }),
] as const;
const limitsWith = (perMint: number, perDay = 10_000) => ({
  organization: { MINT: { TRANSACTION: toCents(perMint) }, REDEEM: {} },
  tiers: new Map(
    [
      ["small", perDay],
      ["gold", 1_000_000],
    ].map(([tier, day]) => [valid(parseTierName(String(tier))), { MINT: { DAY: toCents(Number(day)) }, REDEEM: {} }]),
  ),
  since: EARLIER,
  usage: undefined,
});
const headWith = (given: Parameters<typeof givenHead>[0]): Partial<Loaded> => ({ books: [givenHead(given)] });
const shortOf = (shortfall: number) =>
  headWith({ sums: { reserve: 50_000, shortfall, charges: 0, available: 50_000, held: 0, unallocated: 50_000 } });
/** One person may decide nothing alone. */
const own = railAccount(ORGANIZATION, { resolveAloneMaxCents: toCents(0), settings: '{"till":"1"}', isDefault: true });
const LONE = { railAccounts: [own] };
const deposit = givenDeposit();
const mint = givenTransaction({ accountId: account.id, depositId: deposit.id, amountCents: toCents(500) });
const credited = {
  status: "CREDITED",
  reason: undefined,
  accountId: account.id,
  transactionId: mint.id,
  credits: 1,
} as const;
const sent = givenPending({ accountId: account.id, status: "PROCESSING", amountCents: toCents(2_000) });
const order = { accounts: [account], transactions: [sent], payments: [givenPayment(sent, { state: "ACCEPTED" })] };
const direct = givenTransaction({ accountId: account.id });
const rule: ReserveRule = { kind: "bank_kenya", shareMin: 20, staleAfterDays: 7 };
const figure = { kind: "bank_kenya", documentSha256: undefined, maturesOn: undefined } as const;
const place = (amount: number) => ({
  reservePlaces: [
    {
      ...figure,
      organizationId: ORGANIZATION,
      place: "KCB 1",
      amountCents: toCents(amount),
      asOfDay: valid(parseNairobiDay("2026-10-31")),
      evidence: "statement 9",
      recordedAt: EARLIER,
      seq: 1,
    },
  ],
});
const correct = (name: Parameters<typeof correctBook>[0], given: Partial<Parameters<typeof correctBook>[2]> = {}) =>
  correctBook(name, ORGANIZATION, { amountCents: 10_000, key: "c", target: "r1", ...given });
const money = { ...LONE, ...shortOf(20_000), accounts: [account] };
const moved = (...more: readonly string[]) => ["amount:  > 100.00 KES", ...more];

/** The same of two persons, of whom the second does it. */
const byTwo = <C extends Proposed>(command: C): readonly C[] =>
  ["opr_c", "opr_d"].map((person) => ({ ...command, ...by(person) }));
const NEW = "it is new";
const ADDED = "it is added to what stands, with a receipt or once for its key";
const OTHER_CASE = "another case of a kind";
const SHORT_AND_BACK = [
  ...byTwo(correct("coverShortfall", { key: "other" })),
  ...byTwo(correct("bookPayment", { key: "back", target: "r9" })),
];
const RETURNED_AND_BACK = [
  ...byTwo(returnThroughRail(ORGANIZATION, deposit.id)),
  endReturn({ ...deposit, updatedAt: NOW }),
];
const later = newFreezeId();

/** Every kind that may wait for a second person. One that is missing does not compile. */
const KINDS: { readonly [Name in Proposed["name"]]: Kind } = {
  resumeOrganization: {
    thereAndBack: [suspension("resumeOrganization", ORGANIZATION), suspension("suspendOrganization", ORGANIZATION)],
    rows: headWith({ suspendedSeq: 8 }),
    command: suspension("resumeOrganization", ORGANIZATION) as Proposed,
    shown: ["calls: refused since row 8 > allowed"],
    changed: [headWith({ suspendedSeq: 12 }), "calls", "refused since row 8", "refused since row 12"],
  },
  requireReceipts: {
    thereAndBack: [requireReceipts(ORGANIZATION, false), requireReceipts(ORGANIZATION, true)],
    rows: headWith({ receiptsRequiredSeq: 8 }),
    command: requireReceipts(ORGANIZATION, false),
    shown: ["receipt of a direct mint: required since row 8 > not required"],
    changed: [
      headWith({ receiptsRequiredSeq: 12 }),
      "receipt of a direct mint",
      "required since row 8",
      "required since row 12",
    ],
  },
  createApiKey: {
    thereAndBack: NEW,
    rows: {},
    command: createApiKey(ORGANIZATION, { scopes: ["accounts:write", "accounts:read"] }),
    shown: ["API key:  > till", "scopes:  > accounts:write, accounts:read", "expires:  > never"],
  },
  setLimits: {
    thereAndBack: [
      setLimits(ORGANIZATION, { changes: { TRANSACTION: toCents(5_000_000) } }),
      setLimits(ORGANIZATION, { changes: { TRANSACTION: toCents(100_000) } }),
    ],
    rows: headWith({ limits: limitsWith(100_000) }),
    command: setLimits(ORGANIZATION, { changes: { TRANSACTION: toCents(9_000_000), DAY: "NONE" } }),
    shown: [
      "organization: one mint: 1,000.00 KES > 90,000.00 KES",
      "organization: mints of a day: no limit > no limit",
    ],
    changed: [headWith({ limits: limitsWith(1_000) }), "organization: one mint", "1,000.00 KES", "10.00 KES"],
  },
  setAccountTier: {
    thereAndBack: [setAccountTier(ORGANIZATION, account.id, "gold"), setAccountTier(ORGANIZATION, account.id, "small")],
    rows: { ...headWith({ limits: limitsWith(1) }), accounts: [account] },
    command: { ...setAccountTier(ORGANIZATION, account.id, "gold"), note: "verified" as StatusReason },
    shown: ["tier: small > gold", "account: mints of a day: 100.00 KES > 10,000.00 KES", "reason:  > verified"],
    changed: [headWith({ limits: limitsWith(1, 5_000) }), "account: mints of a day", "100.00 KES", "50.00 KES"],
  },
  unfreezeAccount: {
    thereAndBack: [
      freezeAccount(ORGANIZATION, frozen.id, { newFreezeId: later }),
      unfreezeAccount(ORGANIZATION, frozen.id, later),
    ],
    rows: { accounts: [frozen], freezes: [freezes[0]] },
    command: unfreezeAccount(ORGANIZATION, frozen.id, freezes[0].id),
    shown: ["freeze: fraud: case 7 > lifted", "account: frozen > active"],
    changed: [{ freezes }, "other freezes", "", "customer request"],
  },
  eraseAccount: {
    thereAndBack: [
      freezeAccount(ORGANIZATION, empty.id, { newFreezeId: later }),
      unfreezeAccount(ORGANIZATION, empty.id, later),
    ],
    rows: { accounts: [empty] },
    command: eraseAccount(ORGANIZATION, empty.id),
    shown: ["personal data: kept, encrypted > erased for ever", "account: active > active"],
    changed: [{ accounts: [{ ...empty, status: "FROZEN" }] }, "account", "active", "frozen"],
  },
  setRailAccount: {
    thereAndBack: [setPayouts(ORGANIZATION, "closed"), setPayouts(ORGANIZATION, "auto")],
    rows: { ...LONE, railAccountsOfAll: { count: 1, revisions: 1 } },
    command: setRailAccount(ORGANIZATION, {
      settings: '{"till":"2","url":"x"}',
      credentialsHmac: "cc",
      sealed: { hex: "aa", sha256: "bb" },
      resolveAloneMaxCents: toCents(500_000),
      isDefault: true,
      facts: { accountsOfAll: "1:1", movesPlace: false },
    }),
    shown: [
      "rail: mpesa > mpesa",
      "till: 1 > 2",
      "url:  > x",
      "credentials:  > new ones",
      "default rail: yes > yes",
      "a mint begins within: 1 seconds > 1 seconds",
      "confirmed by a query above: 0.00 KES > 0.00 KES",
      "one person resolves up to: 0.00 KES > 5,000.00 KES",
      "warning below: 0.00 KES > 0.00 KES",
      "revision of the account: 1 > 2",
    ],
    changed: [{ railAccounts: [{ ...own, revision: 3 }] }, "revision of the account", "1", "3"],
  },
  setDefaultRail: {
    thereAndBack: [setDefaultRail(ORGANIZATION, "direct" as never), setDefaultRail(ORGANIZATION, own.rail)],
    rows: LONE,
    command: setDefaultRail(ORGANIZATION, "direct" as never),
    shown: ["default rail: mpesa > direct"],
    changed: [
      { railAccounts: [railAccount(ORGANIZATION, { rail: "fast" as never, isDefault: true })] },
      "default rail",
      "mpesa",
      "fast",
    ],
  },
  setPayouts: {
    thereAndBack: [
      setPayouts(ORGANIZATION, "open"),
      setPayouts(ORGANIZATION, "closed", { note: "8006" as StatusReason }),
    ],
    rows: { railAccounts: [{ ...own, payouts: "closed", payoutsReason: "8006" }] },
    command: setPayouts(ORGANIZATION, "open"),
    shown: ["rail: mpesa > mpesa", "payouts: closed: 8006 > open", "revision of the account: 1 > 2"],
    changed: [
      { railAccounts: [{ ...own, payouts: "closed", payoutsReason: "fraud", revision: 3 }] },
      "payouts",
      "closed: 8006",
      "closed: fraud",
    ],
  },
  recordReserve: {
    thereAndBack: [
      recordReserve(ORGANIZATION, "KCB 1", { ...figure, amountCents: toCents(9_900) }),
      recordReserve(ORGANIZATION, "KCB 1", {
        ...figure,
        amountCents: toCents(100),
        asOfDay: valid(parseNairobiDay("2026-10-31")),
        evidence: "statement 9",
      }),
    ],
    rows: place(100),
    command: recordReserve(ORGANIZATION, "KCB 1", { ...figure, amountCents: toCents(41_050_100) }),
    shown: [
      "place: KCB 1 > KCB 1",
      "amount: 1.00 KES > 410,501.00 KES",
      "end of the day: 2026-10-31 > 2026-11-01",
      "shown by: statement 9 > statement",
      "kind: bank kenya > bank kenya",
    ],
    changed: [place(200), "amount", "1.00 KES", "2.00 KES"],
  },
  setReserveRules: {
    thereAndBack: [setReserveRules(ORGANIZATION, [rule]), setReserveRules(ORGANIZATION, [])],
    rows: {},
    command: setReserveRules(ORGANIZATION, [rule, { ...rule, shareMin: undefined, shareMax: 90, daysMax: 30 }]),
    shown: [
      "bank kenya:  > at least 20 % of the reserve, figures of the last 7 days; " +
        "at most 90 % of the reserve, matures within 30 days, figures of the last 7 days",
    ],
    changed: [
      headWith({ reserveRules: '[{"kind":"bank_kenya","share_max":50,"stale_after_days":1}]' }),
      "bank kenya",
      "",
      "at most 50 % of the reserve, figures of the last 1 days",
    ],
  },
  reverseTransaction: {
    thereAndBack: "a reversal happens once",
    rows: { ...LONE, accounts: [account], transactions: [direct] },
    command: reverseByOperator(ORGANIZATION, direct.id),
    shown: [
      "transaction: mint of 50.00 KES, completed > reversed by a redemption of the same amount",
      "reason:  > paid twice",
    ],
  },
  coverShortfall: {
    thereAndBack: SHORT_AND_BACK,
    rows: money,
    command: correct("coverShortfall"),
    shown: moved("shortfall: 200.00 KES > 100.00 KES"),
    changed: [shortOf(10_000), "shortfall", "200.00 KES", "100.00 KES"],
  },
  recoverShortfall: {
    thereAndBack: SHORT_AND_BACK,
    rows: money,
    command: correct("recoverShortfall", { target: account.id }),
    shown: moved("shortfall: 200.00 KES > 100.00 KES", `account:  > ${account.id}`),
    changed: [shortOf(10_000), "shortfall", "200.00 KES", "100.00 KES"],
  },
  allocate: {
    thereAndBack: ADDED,
    rows: money,
    command: correct("allocate", { target: account.id }),
    shown: moved(`account:  > ${account.id}`),
  },
  returnUnallocated: {
    thereAndBack: ADDED,
    rows: money,
    command: correct("returnUnallocated"),
    shown: moved("receipt:  > r1"),
  },
  bookReceipt: {
    thereAndBack: ADDED,
    rows: money,
    command: correct("bookReceipt"),
    shown: moved("receipt:  > r1"),
  },
  bookPayment: {
    thereAndBack: ADDED,
    rows: money,
    command: correct("bookPayment", { account: account.id }),
    shown: moved(`account:  > ${account.id}`, "receipt:  > r1"),
  },
  adjustMovement: {
    thereAndBack: [
      ...byTwo(correct("adjustMovement", { key: "other" })),
      ...byTwo(correct("adjustMovement", { key: "back", direction: "in" })),
    ],
    rows: money,
    command: correct("adjustMovement"),
    shown: moved("movement:  > r1", "direction:  > out"),
  },
  explainTransfer: {
    thereAndBack: ADDED,
    rows: money,
    command: correct("explainTransfer"),
    shown: moved("receipt:  > r1", "direction:  > out"),
  },
  fundCharges: {
    thereAndBack: ADDED,
    rows: money,
    command: correct("fundCharges"),
    shown: moved("receipt:  > r1", "direction:  > out"),
  },
  recordDeposit: {
    thereAndBack: NEW,
    rows: { ...LONE, accounts: [account] },
    command: recordDeposit(ORGANIZATION, { accountId: account.id }),
    shown: ["deposit:  > credited", "amount:  > 5.00 KES", `account:  > ${account.id}`, "receipt:  > d1"],
  },
  recordDeposits: {
    thereAndBack: "a receipt that the book has meanwhile is passed over",
    rows: { ...LONE, accounts: [account] },
    command: recordDeposits(ORGANIZATION, [{ receipt: "d1" }]),
    shown: ["pay-ins:  > 1 of mpesa, together 5.00 KES", "d1:  > 5.00 KES, without a reference"],
  },
  assignDeposit: {
    thereAndBack: RETURNED_AND_BACK,
    rows: { ...LONE, deposits: [deposit], accounts: [account] },
    command: assignDeposit(ORGANIZATION, deposit.id, account.id),
    shown: [
      "deposit: unallocated: no reference > credited",
      "amount: 5.00 KES > 5.00 KES",
      `account:  > ${account.id}`,
    ],
    changed: [
      { deposits: [{ ...deposit, reason: "UNASSIGNED", credits: 1 }] },
      "deposit",
      "unallocated: no reference",
      "unallocated: unassigned",
    ],
  },
  unassignDeposit: {
    thereAndBack: "it names one credit, which ends once",
    rows: { ...LONE, deposits: [{ ...deposit, ...credited }], accounts: [account], transactions: [mint] },
    command: unassignDeposit(ORGANIZATION, deposit.id, mint.id),
    shown: [
      "deposit: credited > unallocated",
      "amount: 5.00 KES > 5.00 KES",
      `account: ${account.id} > `,
      "credits so far: 1 > 1",
    ],
  },
  returnDeposit: {
    thereAndBack: RETURNED_AND_BACK,
    rows: { ...LONE, deposits: [deposit] },
    command: returnDeposit(ORGANIZATION, deposit.id),
    shown: [
      "deposit: unallocated: no reference > returned to the payer",
      "amount: 5.00 KES > 5.00 KES",
      "receipt:  > back1",
    ],
    changed: [
      { deposits: [{ ...deposit, reason: "RETURN_FAILED" }] },
      "deposit",
      "unallocated: no reference",
      "unallocated: return failed",
    ],
  },
  reverseDeposit: {
    thereAndBack: RETURNED_AND_BACK,
    rows: { ...LONE, deposits: [deposit] },
    command: reverseDeposit(ORGANIZATION, deposit.id),
    shown: [
      "deposit: unallocated: no reference > reversed: the rail took it back",
      "amount: 5.00 KES > 5.00 KES",
      "receipt:  > back1",
    ],
    changed: [
      { deposits: [{ ...deposit, status: "RETURNING", reason: undefined }] },
      "deposit",
      "unallocated: no reference",
      "returning",
    ],
  },
  resolveTransaction: {
    thereAndBack: "a flag of an open order stays up",
    rows: { ...LONE, ...order },
    command: resolve(ORGANIZATION, sent.id, { kind: "FAILED" }),
    shown: ["transaction: processing > failed", "amount: 20.00 KES > nothing moved"],
    changed: [{ transactions: [{ ...sent, openFlags: ["REPORT_DIFFERS"] }] }, "flags", "", "report differs"],
  },
  resolveTransactions: {
    thereAndBack: "an order that is not open any more is left as it is",
    rows: { ...LONE, ...order },
    command: resolveTransactions(ORGANIZATION, [[sent.id, "r1", 2_000]]),
    shown: ["orders: processing > 1 completed, together 20.00 KES", `${sent.id}:  > 20.00 KES, receipt r1`],
  },
};

/** Other cases of the same kinds. */
const ALSO: Readonly<Record<string, Kind>> = {
  "createApiKey that ends": {
    thereAndBack: OTHER_CASE,
    rows: {},
    command: createApiKey(ORGANIZATION, { scopes: ["transactions:write"], expiresAt: NOW }),
    shown: ["API key:  > till", "scopes:  > transactions:write", "expires:  > 2023-11-14T22:14:20.000Z"],
  },
  "setRailAccount of a new account": {
    thereAndBack: OTHER_CASE,
    rows: { railAccountsOfAll: { count: 0, revisions: 0 } },
    command: setRailAccount(ORGANIZATION, {
      credentialsExpireAt: NOW,
      facts: { accountsOfAll: "0:0", movesPlace: false },
    }),
    shown: [
      "rail:  > mpesa",
      "credentials end:  > 2023-11-14T22:14:20.000Z",
      "default rail:  > no",
      "a mint begins within:  > 1 seconds",
      "confirmed by a query above:  > 0.00 KES",
      "one person resolves up to:  > 0.00 KES",
      "warning below:  > 0.00 KES",
      "revision of the account:  > 1",
    ],
  },
  "setRailAccount with the credentials that are there": {
    thereAndBack: OTHER_CASE,
    rows: {
      railAccounts: [{ ...own, credentials: { hex: "aa", sha256: "bb" } }],
      railAccountsOfAll: { count: 1, revisions: 1 },
    },
    command: setRailAccount(ORGANIZATION, { facts: { accountsOfAll: "1:1", movesPlace: false } }),
    shown: [
      "rail: mpesa > mpesa",
      "till: 1 > ",
      "credentials: kept encrypted > ",
      "default rail: yes > no",
      "a mint begins within: 1 seconds > 1 seconds",
      "confirmed by a query above: 0.00 KES > 0.00 KES",
      "one person resolves up to: 0.00 KES > 0.00 KES",
      "warning below: 0.00 KES > 0.00 KES",
      "revision of the account: 1 > 2",
    ],
  },
  "setDefaultRail in place of direct": {
    thereAndBack: OTHER_CASE,
    rows: { railAccounts: [{ ...own, isDefault: false }] },
    command: setDefaultRail(ORGANIZATION, own.rail),
    shown: ["default rail: direct > mpesa"],
  },
  "setPayouts of an account that was closed without a reason": {
    thereAndBack: OTHER_CASE,
    rows: { railAccounts: [{ ...own, payouts: "closed" }] },
    command: setPayouts(ORGANIZATION, "open"),
    shown: ["rail: mpesa > mpesa", "payouts: closed > open", "revision of the account: 1 > 2"],
  },
  "assignDeposit after a return that failed": {
    thereAndBack: RETURNED_AND_BACK,
    rows: { ...LONE, deposits: [{ ...deposit, reason: "RETURN_FAILED" }], accounts: [account] },
    command: assignDeposit(ORGANIZATION, deposit.id, account.id),
    shown: [
      "deposit: unallocated: return failed > credited",
      "amount: 5.00 KES > 5.00 KES",
      `account:  > ${account.id}`,
    ],
  },
  "recordDeposit of nobody": {
    thereAndBack: OTHER_CASE,
    rows: LONE,
    command: recordDeposit(ORGANIZATION),
    shown: ["deposit:  > unallocated", "amount:  > 5.00 KES", "receipt:  > d1"],
  },
  "recordDeposits of several": {
    thereAndBack: OTHER_CASE,
    rows: { ...LONE, accounts: [account] },
    command: recordDeposits(ORGANIZATION, [
      { receipt: "d1", reference: depositReference(0), amountCents: toCents(700) },
      { receipt: "d2", reference: "UNREADABLE" },
    ]),
    shown: [
      "pay-ins:  > 2 of mpesa, together 12.00 KES",
      `d1:  > 7.00 KES, for ${depositReference(0)}`,
      "d2:  > 5.00 KES, for no account",
    ],
  },
  "returnDeposit by its rail": {
    thereAndBack: OTHER_CASE,
    rows: { ...LONE, deposits: [deposit] },
    command: { ...returnDeposit(ORGANIZATION, deposit.id), receipt: undefined },
    shown: ["deposit: unallocated: no reference > returning: the rail is asked", "amount: 5.00 KES > 5.00 KES"],
  },
  "reverseTransaction of a redemption": {
    thereAndBack: OTHER_CASE,
    rows: { ...LONE, accounts: [account], transactions: [{ ...direct, type: "REDEEM" }] },
    command: reverseByOperator(ORGANIZATION, direct.id),
    shown: [
      "transaction: redemption of 50.00 KES, completed > reversed by a mint of the same amount",
      "reason:  > paid twice",
    ],
  },
};

/** Every kind, and the other cases. */
export const PROPOSED: Readonly<Record<string, Kind>> = { ...KINDS, ...ALSO };

/** The person of a command, whom no policy lets decide alone. */
export function by(person: string, more: Partial<Authority> = {}): { readonly authority: Authority } {
  const groups = [WIDENS_ALONE, ...BOOK_GROUPS] as const;
  return { authority: { ...ALONE, groups, newProposalId: newProposalId(), person: person as Decider, ...more } };
}
