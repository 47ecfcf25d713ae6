import { DEFAULT_TIER, limitsOfTier } from "../../domain/limits/limits.js";
import { type LimitsInForce, type LimitState, limitStates, usageAt } from "../../domain/limits/usage.js";
import { formatCents } from "../../domain/values/cents.js";
import { parseAccountId } from "../../domain/values/ids.js";
import { messageOf } from "../../grpc/errors/status.js";
import type { Reads } from "../../ledger/ports/reads.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import { reads } from "../../storage/reads.js";
import { printJson, printLine, printTable, timeOf } from "../commands/output.js";
import { findOwner } from "../organizations.js";

/** The limits of the organization, of a tier or of an account. */
interface Shown {
  readonly whose: string;
  /** The limits of a tier have no usage: each account has its own. */
  readonly hasUsage: boolean;
  readonly states: readonly LimitState[];
}

export async function show(org: string, { account, json }: { account?: string; json?: true }): Promise<void> {
  const { database: address } = configFromEnvironment();
  const shown = await withCurrentDatabase(address, async (database) => {
    const { organization, cell } = await findOwner(database, org);
    const stored = reads(cell);
    const limits = await stored.limits(organization.id);
    if (account !== undefined) return ofAccount(stored, { organizationId: organization.id, text: account, limits });
    return limits === undefined ? [] : ofOrganization(limits);
  });
  if (json === true) printJson(shown.map(jsonOf));
  else if (shown.every(({ states }) => states.length === 0)) {
    printLine("No limits. To set one: kesc limits set ORG --mint-per-day AMOUNT --person NAME --reason TEXT");
  } else {
    printTable([["WHOSE", "TYPE", "PERIOD", "MAX AMOUNT", "USED", "REMAINING", "RESETS AT"], ...shown.flatMap(rowsOf)]);
  }
}

function ofOrganization(limits: LimitsInForce): Shown[] {
  const usage = usageAt(limits.usage, now());
  return [
    { whose: "organization", hasUsage: true, states: limitStates(limits.organization, usage) },
    ...[...limits.tiers].map(([tier, set]) => ({
      whose: `tier ${tier}`,
      hasUsage: false,
      states: limitStates(set, usage),
    })),
  ];
}

async function ofAccount(
  stored: Reads,
  {
    organizationId,
    text,
    limits,
  }: {
    readonly organizationId: Parameters<Reads["account"]>[0];
    readonly text: string;
    readonly limits: LimitsInForce | undefined;
  },
): Promise<Shown[]> {
  const id = parseAccountId(text);
  if (!id.ok) throw new OperatorError(`The id of the account ${id.problem}.`, 2);
  const account = await stored.account(organizationId, id.value);
  if (account === undefined) throw new OperatorError(messageOf({ reason: "ACCOUNT_NOT_FOUND", accountId: id.value }));
  if (limits === undefined) return [];
  const { tier } = account;
  const whose = limits.tiers.has(tier) ? `account, tier ${tier}` : `account, tier ${tier} (as ${DEFAULT_TIER})`;
  const states = limitStates(limitsOfTier(limits, tier), usageAt(account.usage, now()));
  return [{ whose, hasUsage: true, states }];
}

function rowsOf({ whose, hasUsage, states }: Shown): string[][] {
  return states.map(({ type, period, limitCents, usedCents, remainingCents, resetsAt }) => {
    const isCounted = hasUsage && usedCents !== undefined;
    return [
      whose,
      type.toLowerCase(),
      period.toLowerCase(),
      formatCents(limitCents),
      isCounted ? formatCents(usedCents) : "",
      isCounted ? formatCents(remainingCents) : "",
      isCounted ? (timeOf(resetsAt) ?? "") : "",
    ];
  });
}

function jsonOf({ whose, hasUsage, states }: Shown) {
  return {
    whose,
    limits: states.map(({ type, period, limitCents, usedCents, remainingCents, resetsAt }) => {
      const isCounted = hasUsage && usedCents !== undefined;
      return {
        type: type.toLowerCase(),
        period: period.toLowerCase(),
        max_amount: formatCents(limitCents),
        used: isCounted ? formatCents(usedCents) : null,
        remaining: isCounted ? formatCents(remainingCents) : null,
        resets_at: isCounted ? timeOf(resetsAt) : null,
      };
    }),
  };
}
