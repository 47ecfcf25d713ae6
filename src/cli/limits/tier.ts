import type { Command } from "commander";

import type { SetAccountTier } from "../../domain/commands.js";
import { DEFAULT_TIER, type TierName } from "../../domain/limits/limits.js";
import { parseAccountId } from "../../domain/values/ids.js";
import type { StatusReason } from "../../domain/values/text.js";
import { messageOf } from "../../grpc/errors/status.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import { byMachine } from "../../storage/organizations/commit-now.js";
import { reads } from "../../storage/reads.js";
import { statusReason, tierName } from "../commands/arguments.js";
import { printLine } from "../commands/output.js";
import { commitAsOperator } from "../commit-as-operator.js";
import { findOwner } from "../organizations.js";

const WRONG_USAGE = 2;

interface TierOptions {
  readonly org: string;
  readonly tier: TierName;
  readonly reason: StatusReason;
}

/** Adds `kesc account tier`. */
export function addTier(account: Command): void {
  account
    .command("tier")
    .description("move an account to another tier, whose limits hold for it")
    .argument("<account-id>", 'id of the account ("acc_…")')
    .requiredOption("--org <organization>", "id or name of the organization")
    .requiredOption("--tier <name>", "a tier that has limits, or default", tierName)
    .requiredOption("--reason <text>", "reason for the journal, without personal data", statusReason)
    .action(setTier);
}

async function setTier(account: string, { org, tier, reason }: TierOptions): Promise<void> {
  const accountId = parseAccountId(account);
  if (!accountId.ok) throw new OperatorError(`The id of the account ${accountId.problem}.`, WRONG_USAGE);
  const { database: address } = configFromEnvironment();
  await withCurrentDatabase(address, async (database) => {
    const { organization, cell } = await findOwner(database, org);
    const { id: organizationId } = organization;
    // The domain takes any name: the limits of a tier may be set later. Here it is often a slip.
    const tiers = (await reads(cell).limits(organizationId))?.tiers ?? new Map<TierName, unknown>();
    if (tier !== DEFAULT_TIER && !tiers.has(tier)) {
      const known = [...tiers.keys()].join(", ");
      throw new OperatorError(
        `The tier ${tier} has no limits. ${known === "" ? "No tier has any" : `Tiers with limits: ${known}`}. ` +
          "To set some: kesc limits set ORG --tier NAME …",
      );
    }
    const given = { accountId: accountId.value, tier, note: reason };
    const command: SetAccountTier = { name: "setAccountTier", ...given, ...byMachine(organizationId) };
    const outcome = await commitAsOperator(cell, command);
    if (outcome.kind === "refused") throw new OperatorError(messageOf(outcome.refusal));
    const { value: id } = accountId;
    printLine(
      outcome.replayed ? `Account ${id} has the tier ${tier} already.` : `Account ${id} now has the tier ${tier}.`,
    );
  });
}
