import { LIMIT_PERIODS } from "../../../src/domain/limits/limits.js";
import type { MoveMoney } from "../../../src/domain/money/move-money.js";
import type { Command } from "../../../src/domain/operations.js";
import { HOLDS_BY_AMOUNT } from "../../../src/domain/payment.js";
import { DIRECT_RAIL } from "../../../src/domain/transaction.js";
import { type Cents, NO_CENTS, toCents } from "../../../src/domain/values/cents.js";
import type { AccountId, OrganizationId } from "../../../src/domain/values/ids.js";
import { depositReference, SLOW_RAIL } from "../../support/names.js";
import {
  createAccount,
  freezeAccount,
  setAccountTier,
  setLimits,
  unfreezeAccount,
  updateAccount,
} from "../../support/operations/accounts.js";
import {
  beginPayment,
  completePayment,
  decideHeld,
  failPayment,
  flag,
  mint,
  redeem,
  reverse,
} from "../../support/operations/transactions.js";
import { FULL } from "./step-things.js";

/** The organization that has limits from the beginning. */
const LIMITED = "second" as OrganizationId;
const TIERS_MAX = 20;
const FREEZES_MAX = 20;

/**
 * One account without money, and one with money and orders, so that most steps find what they are
 * about. One order was paid out although it had failed, which leaves a shortfall. One mint was
 * reversed.
 */
export function prologueOf(organizationId: OrganizationId): readonly Command[] {
  const ann = createAccount(organizationId, "ann", { depositReferences: [depositReference(0)] });
  const given = { organizationId, accountId: ann.newAccountId };
  const ben = createAccount(organizationId, "ben");
  const payout = redeem({ ...given, reference: "a payout", amount: "0.60", rail: SLOW_RAIL });
  const id = payout.newTransactionId;
  const waiting = mint({ ...given, reference: "waits", amount: "0.40", rail: SLOW_RAIL });
  const doubted = mint({ ...given, reference: "a doubt", amount: "0.30", rail: SLOW_RAIL });
  const mistaken = mint({ ...given, reference: "a mistake", amount: "0.10", rail: DIRECT_RAIL });
  const reversal = reverse(organizationId, mistaken.newTransactionId, { key: "reversed" });
  return [
    ben,
    ann,
    ...(organizationId === FULL ? tooManyFreezesOf(organizationId, ben.newAccountId) : []),
    ...(organizationId === LIMITED ? limitsPrologueOf(organizationId, ben.newAccountId) : []),
    updateAccount(organizationId, ann.newAccountId),
    mint({ ...given, reference: "the first", amount: "2.00", rail: DIRECT_RAIL }),
    redeem({
      ...given,
      reference: "too soon",
      amount: "0.01",
      rail: SLOW_RAIL,
      terms: { phoneCoolingMillis: 600_000 },
    }),
    mistaken,
    reversal,
    reverse(organizationId, mistaken.newTransactionId, { key: "reversed-again", description: "for another reason" }),
    reverse(organizationId, reversal.newTransactionId, { key: "reversal-reversed" }),
    mint({ ...given, reference: "an order", amount: "0.50", rail: SLOW_RAIL }),
    waiting,
    beginPayment(organizationId, waiting.newTransactionId),
    doubted,
    beginPayment(organizationId, doubted.newTransactionId),
    flag(organizationId, doubted.newTransactionId),
    payout,
    beginPayment(organizationId, id),
    failPayment(organizationId, id),
    completePayment(organizationId, id, { receipt: "late", amountCents: toCents(50_000) }),
    ...(organizationId === LIMITED ? heldPrologueOf(organizationId) : []),
  ];
}

/** Redemptions wait for each reason: one is released, one is refused, and one still waits. */
function heldPrologueOf(organizationId: OrganizationId): readonly Command[] {
  // Ann's phone number was changed, by the time of rows that is ahead of the clock: it cools.
  const cid = createAccount(organizationId, "cid");
  const given = { organizationId, accountId: cid.newAccountId };
  const [released, refused, waiting] = HOLDS_BY_AMOUNT.slice(0, 3).map((reason) =>
    redeem({ ...given, reference: `held for ${reason}`, amount: "0.01", rail: SLOW_RAIL }),
  ) as [MoveMoney, MoveMoney, MoveMoney];
  const hold = (amount: Cents | "NONE") =>
    HOLDS_BY_AMOUNT.map((reason) =>
      setLimits(organizationId, { type: "REDEEM", changes: { [`HELD_${reason}`]: amount } }),
    );
  return [
    cid,
    mint({ ...given, reference: "to be held", amount: "1.00", rail: DIRECT_RAIL }),
    ...hold(NO_CENTS),
    released,
    beginPayment(organizationId, released.newTransactionId),
    decideHeld("releaseTransaction", organizationId, released.newTransactionId),
    decideHeld("refuseTransaction", organizationId, released.newTransactionId),
    refused,
    decideHeld("refuseTransaction", organizationId, refused.newTransactionId),
    decideHeld("releaseTransaction", organizationId, refused.newTransactionId),
    waiting,
    ...hold("NONE"),
  ];
}

/** An account gets one freeze more than it can have. At last none stands. */
function tooManyFreezesOf(organizationId: OrganizationId, accountId: AccountId): readonly Command[] {
  const freezes = Array.from({ length: FREEZES_MAX + 1 }, () => freezeAccount(organizationId, accountId));
  const lifted = freezes
    .slice(0, FREEZES_MAX)
    .map(({ newFreezeId: id }) => unfreezeAccount(organizationId, accountId, id));
  return [...freezes, ...lifted];
}

/** A mint meets each limit that can be set, one after the other. At last only the tiers stay. */
function limitsPrologueOf(organizationId: OrganizationId, accountId: AccountId): readonly Command[] {
  const two = (reference: string) => mint({ organizationId, accountId, reference, amount: "0.02", rail: DIRECT_RAIL });
  const meet = (tier: string | undefined): Command[] => [
    ...LIMIT_PERIODS.flatMap((period) => [
      setLimits(organizationId, { tier, changes: { [period]: toCents(1) } }),
      two(`beyond ${String(tier)} ${period}`),
      setLimits(organizationId, { tier, changes: { [period]: "NONE" } }),
    ]),
  ];
  const tiers = Array.from({ length: TIERS_MAX }, (_, index) =>
    setLimits(organizationId, { tier: `tier-${String(index)}`, changes: { DAY: toCents(1) } }),
  );
  return [
    setAccountTier(organizationId, accountId, "small"),
    ...meet("small"),
    ...meet(undefined),
    two("within all limits"),
    ...tiers,
    ...tiers.slice(1).map(({ tier }) => setLimits(organizationId, { tier, changes: undefined })),
  ];
}
