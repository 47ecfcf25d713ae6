import type { Command } from "commander";
import { InvalidArgumentError } from "commander";

import type { SetLimits } from "../../domain/commands.js";
import {
  LIMIT_PERIODS,
  type LimitChanges,
  parseNewLimit,
  parseTierName,
  type TierName,
} from "../../domain/limits/limits.js";
import type { OperatorName } from "../../domain/proposal.js";
import type { TransactionType } from "../../domain/transaction.js";
import { OPERATOR } from "../../domain/values/actor.js";
import type { Cents } from "../../domain/values/cents.js";
import type { StatusReason } from "../../domain/values/text.js";
import { messageOf } from "../../grpc/errors/status.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import { statusReason } from "../commands/arguments.js";
import { printLine } from "../commands/output.js";
import { commitAsOperator } from "../commit-as-operator.js";
import { operatorName } from "../operator/options.js";
import { findOwner } from "../organizations.js";
import { show } from "./show.js";

const WRONG_USAGE = 2;

/** `kesc limits`: how much may be minted and redeemed at once, in a day and in a month. */
export function addLimits(program: Command): void {
  const limits = program.command("limits").description("how much may be minted and redeemed, at once and in a period");
  limits
    .command("show")
    .description("show the limits of an organization and of its tiers, and what is used")
    .argument("<organization>", "id or name of the organization")
    .option("--account <account-id>", "show those of one account instead")
    .option("--json", "print JSON, for scripts")
    .action(show);
  const set = limits
    .command("set")
    .description("set limits of the organization, or of one tier of its accounts; the others stay as they are")
    .argument("<organization>", "id or name of the organization");
  addWhose(set);
  for (const type of TYPES) {
    for (const period of LIMIT_PERIODS) {
      const flag = `--${type.toLowerCase()}-per-${period.toLowerCase()} <amount>`;
      set.option(flag, `highest amount of ${WORDS[type]} ${PERIODS[period]}, such as 1000.00, or none`, amountOrNone);
    }
  }
  set.action(setSome);
  addWhose(
    limits
      .command("remove")
      .description("remove all limits of the organization, or a tier")
      .argument("<organization>", "id or name of the organization"),
  ).action(removeAll);
}

const TYPES = ["MINT", "REDEEM"] as const satisfies readonly TransactionType[];
const WORDS = { MINT: "mints", REDEEM: "redemptions" } as const;
const PERIODS = { TRANSACTION: "at once", DAY: "in a day in Nairobi", MONTH: "in a calendar month" } as const;

function addWhose(command: Command): Command {
  return command
    .option("--tier <name>", 'accounts of this tier; "default" is the tier of an account without another', tierName)
    .requiredOption("--person <name>", "who decides", operatorName)
    .requiredOption("--reason <text>", "reason for the journal, without personal data", statusReason);
}

interface Whose {
  readonly tier?: TierName;
  readonly person: OperatorName;
  readonly reason: StatusReason;
}

type Amounts = Readonly<Record<string, Cents | "NONE" | undefined>>;

async function setSome(org: string, { tier, person, reason, ...amounts }: Whose & Amounts): Promise<void> {
  if (Object.keys(amounts).length === 0) {
    throw new OperatorError("Give at least one limit, such as --mint-per-day 1000.00.", WRONG_USAGE);
  }
  const changes = Object.fromEntries(TYPES.map((type) => [type, changesOf(type, amounts)])) as LimitChanges;
  await commit(org, { tier, person, reason, changes });
}

/** Commander names the option --mint-per-day mintPerDay. */
function changesOf(type: TransactionType, amounts: Amounts): LimitChanges[TransactionType] {
  const changes = LIMIT_PERIODS.map((period) => {
    const [first = "", ...rest] = period.toLowerCase();
    return [period, amounts[`${type.toLowerCase()}Per${first.toUpperCase()}${rest.join("")}`]] as const;
  });
  return Object.fromEntries(changes.filter(([, amount]) => amount !== undefined));
}

async function removeAll(org: string, { tier, person, reason }: Whose): Promise<void> {
  await commit(org, { tier, person, reason, changes: undefined });
}

type GivenLimits = Pick<SetLimits, "tier" | "person" | "reason" | "changes">;

async function commit(org: string, given: GivenLimits): Promise<void> {
  const { database: address } = configFromEnvironment();
  await withCurrentDatabase(address, async (database) => {
    const { organization, cell } = await findOwner(database, org);
    const { id: organizationId, name } = organization;
    const command: SetLimits = { name: "setLimits", organizationId, actor: OPERATOR, ...given };
    const outcome = await commitAsOperator(cell, command);
    if (outcome.kind === "refused") throw new OperatorError(messageOf(outcome.refusal));
    const whose = given.tier === undefined ? name : `the tier ${given.tier} of ${name}`;
    printLine(
      outcome.replayed
        ? `The limits of ${whose} are so already.`
        : `Changed the limits of ${whose}, in row ${String(outcome.resource.lastSeq)} of the book. They hold from now on.`,
    );
  });
}

/** Parses the name of a tier. Throws an error that Commander prints. */
export function tierName(text: string): TierName {
  const tier = parseTierName(text);
  if (!tier.ok) throw new InvalidArgumentError(`It ${tier.problem}.`);
  return tier.value;
}

function amountOrNone(text: string): Cents | "NONE" {
  const limit = parseNewLimit(text);
  if (!limit.ok) throw new InvalidArgumentError(`It ${limit.problem}.`);
  return limit.value;
}
