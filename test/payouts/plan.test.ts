import { expect } from "chai";

import { bankNumber, type DestinationKind } from "../../src/domain/destination.js";
import { DEFAULT_TIER, NO_LIMITS } from "../../src/domain/limits/limits.js";
import type { LimitsInForce } from "../../src/domain/limits/usage.js";
import { toCents } from "../../src/domain/values/cents.js";
import type { AccountId, DestinationId, OrganizationId } from "../../src/domain/values/ids.js";
import type { UserId } from "../../src/domain/values/text.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { accountsOf, Plan, withinMeans } from "../../src/payouts/plan.js";
import type { LeftOutRow, PayoutAccount, PayoutDestination } from "../../src/payouts/ports.js";
import { readPayoutFile } from "../../src/payouts/read-payout-file.js";

const NOW = toUnixMillis(Date.parse("2026-11-30T09:00:00Z"));
const JANE = { bankCode: "68", branchCode: "000", account: "0170123456789", holder: "Jane Doe" };

function destination(kind: DestinationKind, number: string): PayoutDestination {
  return { id: `dst_${number.slice(-4)}` as DestinationId, kind, number };
}

function account(user: string, destinations: readonly PayoutDestination[] = []): PayoutAccount {
  return {
    id: `acc_${user}` as AccountId,
    organizationId: "org_1" as OrganizationId,
    userId: user as UserId,
    availableCents: 100_00,
    tier: DEFAULT_TIER,
    usage: undefined,
    phoneNumber: "+254712345678",
    destinations,
  };
}

async function planOf(lines: readonly string[], accounts: readonly PayoutAccount[]): Promise<Plan> {
  const { rows, sha256 } = await readPayoutFile(Buffer.from(["user_id,amount,destination", ...lines].join("\n")));
  const plan = new Plan(sha256);
  plan.take(rows, accountsOf(accounts));
  return plan;
}

describe("the plan of a file of payouts", () => {
  const atBank = destination("BANK", bankNumber(JANE));
  const atOther = destination("BANK", bankNumber({ ...JANE, bankCode: "01", holder: "Jane Roe" }));

  it("finds an account at a bank by its number, as people and spreadsheets write it", async () => {
    const names = ["0170123456789", "170123456789", "68 0170123456789", "68-000-0170123456789", "68000 0170123456789"];
    const { planned } = await planOf(
      names.map((name) => `jane,1,${name}`),
      [account("jane", [destination("TILL", "5432321"), atBank])],
    );
    expect(planned.map(({ row }) => row.destinationId)).to.deep.equal(names.map(() => atBank.id));
  });

  it("takes no part of a number, and asks for the id where the number is at two banks", async () => {
    const lines = ["jane,1,123456789", "jane,1,0170123456789", "jane,1,68 0170123456789", "jane,1,Jane Doe"];
    const { planned, leftOut } = await planOf(lines, [account("jane", [atBank, atOther])]);
    expect(planned.map(({ row }) => [row.line, row.destinationId])).to.deep.equal([[4, atBank.id]]);
    expect(leftOut.map(({ problem }) => problem)).to.deep.equal([
      "destination: the account has no such destination",
      "destination: several accounts at banks are named so. Give the id",
      "destination: the account has no such destination",
    ]);
  });

  /** Returns what is held, by line, and what is left out. */
  async function means(lines: readonly string[], given: Partial<LimitsInForce> | undefined) {
    const { planned } = await planOf(lines, [account("amina"), account("brian")]);
    const limits = given && { organization: NO_LIMITS, tiers: new Map(), since: NOW, usage: undefined, ...given };
    const leftOut: LeftOutRow[] = [];
    const kept = withinMeans(planned, leftOut, { limits, now: NOW, wordsOf: ({ reason }) => reason });
    return { held: kept.map(({ row, heldFor = [] }) => `${String(row.line)} ${heldFor.join()}`.trim()), leftOut };
  }
  const redeems = (limits: LimitsInForce["organization"]["REDEEM"]) => ({ MINT: {}, REDEEM: limits });
  const LINES = ["amina,40,", "brian,40,", "amina,40,", "amina,20.01,", "amina,20,"];
  const TOO_LITTLE = { line: 5, problem: "amount: the account has 20.00 KES available, after the rows before" };

  it("counts the rows before that are paid against the balance of the account", async () => {
    expect(await means(LINES, undefined)).to.deep.equal({ held: ["2", "3", "4", "6"], leftOut: [TOO_LITTLE] });
  });

  it("counts them against the day of the account, and of the organization", async () => {
    const tiers = new Map([[DEFAULT_TIER, redeems({ HELD_DAY: toCents(79_99) })]]);
    expect((await means(LINES, { tiers })).held).to.deep.equal(["2", "3", "4 DAY", "6 DAY"]);
    const organization = redeems({ HELD_DAY: toCents(79_99) });
    expect((await means(LINES, { organization })).held).to.deep.equal(["2", "3 DAY", "4 DAY", "6 DAY"]);
  });

  it("leaves out what exceeds a limit with the rows before, and counts nothing of it", async () => {
    const organization = redeems({ DAY: toCents(100_00) });
    expect(await means(LINES, { organization })).to.deep.equal({
      held: ["2", "3", "6"],
      leftOut: [
        { line: 4, problem: "amount: LIMIT_EXCEEDED, after the rows before" },
        { line: 5, problem: "amount: LIMIT_EXCEEDED, after the rows before" },
      ],
    });
  });
});
