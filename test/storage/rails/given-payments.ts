import type { Command } from "../../../src/domain/operations.js";
import type { RailAccountId } from "../../../src/domain/payment.js";
import type { AccountId, OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import { keys } from "../../../src/storage/keys.js";
import { saveRailAccount } from "../../../src/storage/rails/change-rail-accounts.js";
import { commitAll } from "../../support/commit.js";
import { type ENGINES, openTestDatabase, type TestDatabase } from "../../support/databases.js";
import { depositReference, SLOW_RAIL } from "../../support/names.js";
import { createAccount } from "../../support/operations/accounts.js";
import { mint, redeem } from "../../support/operations/transactions.js";

export const RAIL_ACCOUNT = "rail_first" as RailAccountId;
export const OTHER_RAIL_ACCOUNT = "rail_second" as RailAccountId;
/** The deposit reference of the account. */
export const NUMBER = depositReference(1);

/** A database with an organization that has two accounts at rails. */
export class PaymentsPlace {
  readonly opened: TestDatabase;
  readonly organizationId: OrganizationId;
  readonly accountId: AccountId;
  readonly now: UnixMillis;

  private constructor(
    opened: TestDatabase,
    given: { organizationId: OrganizationId; accountId: AccountId; now: UnixMillis },
  ) {
    this.opened = opened;
    this.organizationId = given.organizationId;
    this.accountId = given.accountId;
    this.now = given.now;
  }

  static async make(engine: (typeof ENGINES)[number]): Promise<PaymentsPlace> {
    const opened = await openTestDatabase(engine);
    const now = toUnixMillis(Date.now());
    const { id: organizationId } = await keys(opened.database, () => now).createOrganization("rails");
    for (const [rail, id] of [
      ["mpesa", RAIL_ACCOUNT],
      ["slower", OTHER_RAIL_ACCOUNT],
    ] as const) {
      await saveRailAccount(opened.database, railSetting(opened, { id, organizationId, rail, now }));
    }
    const account = createAccount(organizationId, "user", { depositReferences: [NUMBER] });
    const funds = mint({ organizationId, accountId: account.newAccountId, amount: "1000.00", reference: "funds" });
    await opened.cell.committer.commit([account, funds], now);
    return new PaymentsPlace(opened, { organizationId, accountId: account.newAccountId, now });
  }

  /** Accepts a transaction on a rail. Its payment is due at once. */
  async accept(
    direction: "mint" | "redeem",
    reference: string,
    railAccountId: RailAccountId = RAIL_ACCOUNT,
  ): Promise<TransactionId> {
    const { organizationId, accountId } = this;
    const command = (direction === "mint" ? mint : redeem)({
      organizationId,
      accountId,
      amount: "10.00",
      reference,
      rail: SLOW_RAIL,
      terms: { railAccountId },
    });
    await this.commit(command);
    return command.newTransactionId;
  }

  async commit(...commands: readonly Command[]): Promise<void> {
    await commitAll(this.opened.cell, commands, this.now);
  }
}

/** A setting of an account at a rail, to change as a test needs it. */
export function railSetting(
  { cell }: Pick<TestDatabase, "cell">,
  given: { id: RailAccountId; organizationId: OrganizationId; rail: string; now: UnixMillis } & Partial<
    Omit<Setting, "rail">
  >,
): Parameters<typeof saveRailAccount>[1] {
  const { now, rail, ...others } = given;
  return {
    cell,
    now,
    setting: {
      rail: rail as Setting["rail"],
      settings: "{}",
      credentials: undefined,
      credentialsExpireAt: undefined,
      isDefault: false,
      beginWithinMillis: 120_000,
      confirmAboveCents: 0,
      resolveAloneMaxCents: 0,
      floatMinCents: 0,
      ...others,
    },
  };
}

type Setting = Parameters<typeof saveRailAccount>[1]["setting"];
