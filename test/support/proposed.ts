import { parseTierName } from "../../src/domain/limits/limits.js";
import type { OperatorCommand } from "../../src/domain/operations.js";
import type { ResolveTransaction } from "../../src/domain/orders/resolve-transaction.js";
import type { Decider } from "../../src/domain/proposal.js";
import type { ReserveRule } from "../../src/domain/reserve.js";
import { type Authority, BOOK_GROUPS, WIDENS_ALONE } from "../../src/domain/second-person.js";
import { toCents } from "../../src/domain/values/cents.js";
import { parseNairobiDay } from "../../src/domain/values/nairobi-day.js";
import type { StatusReason } from "../../src/domain/values/text.js";
import type { Loaded } from "../../src/ledger/ports/store.js";
import {
  ALONE,
  assignDeposit,
  correctBook,
  createApiKey,
  eraseAccount,
  newProposalId,
  railAccount,
  recordDeposit,
  recordReserve,
  requireReceipts,
  resolve,
  returnDeposit,
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
export type Proposed = Exclude<OperatorCommand, { readonly name: OfOnePerson }> | ResolveTransaction;

export interface Kind {
  readonly rows: Partial<Loaded>;
  readonly command: Proposed;
  /** What the second person is shown: "thing: before > after". */
  readonly shown: readonly string[];
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

/** Every kind that may wait for a second person. One that is missing does not compile. */
const KINDS: { readonly [Name in Proposed["name"]]: Kind } = {
  resumeOrganization: {
    rows: headWith({ suspendedSeq: 8 }),
    command: suspension("resumeOrganization", ORGANIZATION) as Proposed,
    shown: ["calls: refused since row 8 > allowed"],
    changed: [headWith({ suspendedSeq: 12 }), "calls", "refused since row 8", "refused since row 12"],
  },
  requireReceipts: {
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
    rows: {},
    command: createApiKey(ORGANIZATION, { scopes: ["accounts:write", "accounts:read"] }),
    shown: ["API key:  > till", "scopes:  > accounts:write, accounts:read", "expires:  > never"],
  },
  setLimits: {
    rows: headWith({ limits: limitsWith(100_000) }),
    command: setLimits(ORGANIZATION, { changes: { TRANSACTION: toCents(9_000_000), DAY: "NONE" } }),
    shown: [
      "organization: one mint: 1,000.00 KES > 90,000.00 KES",
      "organization: mints of a day: no limit > no limit",
    ],
    changed: [headWith({ limits: limitsWith(1_000) }), "organization: one mint", "1,000.00 KES", "10.00 KES"],
  },
  setAccountTier: {
    rows: { ...headWith({ limits: limitsWith(1) }), accounts: [account] },
    command: { ...setAccountTier(ORGANIZATION, account.id, "gold"), note: "verified" as StatusReason },
    shown: ["tier: small > gold", "account: mints of a day: 100.00 KES > 10,000.00 KES", "reason:  > verified"],
    changed: [headWith({ limits: limitsWith(1, 5_000) }), "account: mints of a day", "100.00 KES", "50.00 KES"],
  },
  unfreezeAccount: {
    rows: { accounts: [frozen], freezes: [freezes[0]] },
    command: unfreezeAccount(ORGANIZATION, frozen.id, freezes[0].id),
    shown: ["freeze: fraud: case 7 > lifted", "account: frozen > active"],
    changed: [{ freezes }, "other freezes", "", "customer request"],
  },
  eraseAccount: {
    rows: { accounts: [empty] },
    command: eraseAccount(ORGANIZATION, empty.id),
    shown: ["personal data: kept, encrypted > erased for ever", "account: active > active"],
    changed: [{ accounts: [{ ...empty, status: "FROZEN" }] }, "account", "active", "frozen"],
  },
  setRailAccount: {
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
    rows: { ...LONE, accounts: [account], transactions: [direct] },
    command: reverseByOperator(ORGANIZATION, direct.id),
    shown: [
      "transaction: mint of 50.00 KES, completed > reversed by a redemption of the same amount",
      "reason:  > paid twice",
    ],
  },
  coverShortfall: {
    rows: money,
    command: correct("coverShortfall"),
    shown: moved("shortfall: 200.00 KES > 100.00 KES"),
    changed: [shortOf(10_000), "shortfall", "200.00 KES", "100.00 KES"],
  },
  recoverShortfall: {
    rows: money,
    command: correct("recoverShortfall", { target: account.id }),
    shown: moved("shortfall: 200.00 KES > 100.00 KES", `account:  > ${account.id}`),
    changed: [shortOf(10_000), "shortfall", "200.00 KES", "100.00 KES"],
  },
  allocate: {
    rows: money,
    command: correct("allocate", { target: account.id }),
    shown: moved(`account:  > ${account.id}`),
  },
  returnUnallocated: { rows: money, command: correct("returnUnallocated"), shown: moved("receipt:  > r1") },
  bookReceipt: { rows: money, command: correct("bookReceipt"), shown: moved("receipt:  > r1") },
  bookPayment: {
    rows: money,
    command: correct("bookPayment", { account: account.id }),
    shown: moved(`account:  > ${account.id}`, "receipt:  > r1"),
  },
  adjustMovement: {
    rows: money,
    command: correct("adjustMovement"),
    shown: moved("movement:  > r1", "direction:  > out"),
  },
  explainTransfer: {
    rows: money,
    command: correct("explainTransfer"),
    shown: moved("receipt:  > r1", "direction:  > out"),
  },
  fundCharges: { rows: money, command: correct("fundCharges"), shown: moved("receipt:  > r1", "direction:  > out") },
  recordDeposit: {
    rows: { ...LONE, accounts: [account] },
    command: recordDeposit(ORGANIZATION, { accountId: account.id }),
    shown: ["deposit:  > credited", "amount:  > 5.00 KES", `account:  > ${account.id}`, "receipt:  > d1"],
  },
  assignDeposit: {
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
    rows: { ...LONE, ...order },
    command: resolve(ORGANIZATION, sent.id, { kind: "FAILED" }),
    shown: ["transaction: processing > failed", "amount: 20.00 KES > nothing moved"],
    changed: [{ transactions: [{ ...sent, openFlags: ["REPORT_DIFFERS"] }] }, "flags", "", "report differs"],
  },
};

/** Other cases of the same kinds. */
const ALSO: Readonly<Record<string, Kind>> = {
  "createApiKey that ends": {
    rows: {},
    command: createApiKey(ORGANIZATION, { scopes: ["transactions:write"], expiresAt: NOW }),
    shown: ["API key:  > till", "scopes:  > transactions:write", "expires:  > 2023-11-14T22:14:20.000Z"],
  },
  "setRailAccount of a new account": {
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
    rows: { railAccounts: [{ ...own, isDefault: false }] },
    command: setDefaultRail(ORGANIZATION, own.rail),
    shown: ["default rail: direct > mpesa"],
  },
  "setPayouts of an account that was closed without a reason": {
    rows: { railAccounts: [{ ...own, payouts: "closed" }] },
    command: setPayouts(ORGANIZATION, "open"),
    shown: ["rail: mpesa > mpesa", "payouts: closed > open", "revision of the account: 1 > 2"],
  },
  "recordDeposit of nobody": {
    rows: LONE,
    command: recordDeposit(ORGANIZATION),
    shown: ["deposit:  > unallocated", "amount:  > 5.00 KES", "receipt:  > d1"],
  },
  "returnDeposit by its rail": {
    rows: { ...LONE, deposits: [deposit] },
    command: { ...returnDeposit(ORGANIZATION, deposit.id), receipt: undefined },
    shown: ["deposit: unallocated: no reference > returning: the rail is asked", "amount: 5.00 KES > 5.00 KES"],
  },
  "reverseTransaction of a redemption": {
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
export const by = (person: string, more: Partial<Authority> = {}): { readonly authority: Authority } => ({
  authority: {
    ...ALONE,
    groups: [WIDENS_ALONE, ...BOOK_GROUPS],
    newProposalId: newProposalId(),
    person: person as Decider,
    ...more,
  },
});
