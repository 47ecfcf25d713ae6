import type { Rail } from "../../domain/transaction.js";
import type { PayoutMode } from "../../settlement/ports/rail-accounts.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import { setPayouts } from "../../storage/rails/change-rail-accounts.js";
import { printLine } from "../commands/output.js";
import { findOwner } from "../organizations.js";

const WORDS: Readonly<Record<PayoutMode, string>> = {
  open: "begin, whatever is unknown about earlier ones",
  closed: "do not begin. Redemptions are accepted and wait; those that were begun go on",
  auto: "begin, unless too many outcomes are unknown",
};

interface PayoutsOptions {
  readonly org: string;
  readonly rail: string;
  readonly reason?: string;
  readonly payouts: PayoutMode;
}

/** Servers notice within two seconds. */
export async function changePayouts({ org, rail, reason = "", payouts }: PayoutsOptions): Promise<void> {
  const { database: address } = configFromEnvironment();
  await withCurrentDatabase(address, async (database) => {
    const { organization, cell } = await findOwner(database, org);
    const account = { organizationId: organization.id, rail: rail as Rail };
    if (!(await setPayouts(cell, account, { payouts, reason, now: now() }))) {
      throw new OperatorError(
        `${organization.id} has no account at a rail ${rail}. To list the accounts: kesc rail list`,
      );
    }
    printLine(`Payouts of ${organization.id} ("${organization.name}") over ${rail} ${WORDS[payouts]}.`);
  });
}
