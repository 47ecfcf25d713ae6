import {
  type HeldPeriod,
  LIMIT_PERIODS,
  type LimitPeriod,
  parseNewLimit,
  type SetPeriod,
} from "../../../domain/limits/limits.js";
import { TRANSACTION_TYPES, type TransactionType } from "../../../domain/transaction.js";
import { formatCents } from "../../../domain/values/cents.js";
import { UsageError } from "../../../startup/operator-error.js";
import { argument } from "../../commands/arguments.js";
import { textOf } from "../../commands/output.js";
import { type CommandParameter, keyOf, type MessageJson, type Run } from "../row.js";
import type { CommandRows, WrittenParameter } from "./written.js";

const TYPES = { MINT: "mints", REDEEM: "redemptions" } as const satisfies Record<TransactionType, string>;
const PERIODS = {
  TRANSACTION: "at once",
  DAY: "in a day in Nairobi",
  MONTH: "in a calendar month",
} as const satisfies Record<LimitPeriod, string>;

const HELD = {
  HELD_AMOUNT: ["--hold-above", "redemption over a rail that no person need release"],
  HELD_DAY: ["--hold-day-above", "sum of a day's redemptions that no person need release"],
  HELD_NEW_DESTINATION: ["--hold-new-above", "first payout to a number that no person need release"],
  HELD_CHANGED: [
    "--hold-changed-above",
    "payout in the week after the number or e-mail address was changed that no person need release",
  ],
} as const satisfies Record<HeldPeriod, readonly [string, string]>;

const NO_LIMIT = "none";

interface LimitParameter {
  readonly type: TransactionType;
  readonly period: SetPeriod;
  readonly parameter: CommandParameter;
}

/** One option for each limit: --mint-per-day. */
const LIMITS: readonly LimitParameter[] = [
  ...TRANSACTION_TYPES.flatMap((type) =>
    LIMIT_PERIODS.map((period) => ({
      type,
      period,
      parameter: {
        flags: `--${type.toLowerCase()}-per-${period.toLowerCase()} <amount>`,
        help: `highest amount of ${TYPES[type]} ${PERIODS[period]}, such as 1000.00, or none`,
        parse: amountOrNone,
      },
    })),
  ),
  ...Object.entries(HELD).map(([period, [option, what]]) => ({
    type: "REDEEM" as const,
    period: period as HeldPeriod,
    parameter: { flags: `${option} <amount>`, help: `highest ${what}, such as 1000.00, or none`, parse: amountOrNone },
  })),
];

const TIER = {
  of: "--tier?",
  help: 'accounts of this tier; "default" is the tier of an account without another',
} as const satisfies WrittenParameter;

/** `kesc limits`. */
export const LIMIT_ROWS: CommandRows = {
  "limits show": {
    description: "show the limits of an organization and of its tiers, and what is used",
    rpc: "GetLimits",
    examples: ['"Acme"'],
    parameters: ["<organization>", { of: "--account?", help: "show those of one account instead" }],
    items: limitsIn,
    columns: {
      WHOSE: "whose",
      TYPE: "type",
      PERIOD: "period",
      "MAX AMOUNT": "max_amount",
      USED: "used",
      REMAINING: "remaining",
      "RESETS AT": "resets_at",
    },
    none: "No limits. To set one: kesc limits set ORG --mint-per-day AMOUNT --note TEXT",
  },
  "limits set": {
    description: "set limits of the organization, or of one tier of its accounts; the others stay as they are",
    rpc: "SetLimits",
    examples: ['"Acme" --tier full --mint-per-day 300000.00 --redeem-per-day 300000.00 --note "full KYC"'],
    parameters: ["<organization>", TIER, ...LIMITS.map(({ parameter }) => parameter), "--note"],
    request: ({ given }) => ({ fields: { changes: changesIn(given) } }),
    shows: null,
    done: (_shown, run) => `Changed the limits of ${whose(run)}. They hold from now on.`,
    unchanged: (_shown, run) => `The limits of ${whose(run)} are so already.`,
  },
  "limits remove": {
    description: "remove all limits of the organization, or a tier",
    rpc: "SetLimits",
    examples: ['"Acme" --tier full --note "the tier is not used"'],
    parameters: ["<organization>", TIER, "--note"],
    request: () => ({ fields: { remove: true } }),
    shows: null,
    done: (_shown, run) => `Removed the limits of ${whose(run)}.`,
    unchanged: (_shown, run) => `The limits of ${whose(run)} are so already.`,
  },
};

function whose({ given, referred }: Run): string {
  const name = referred?.name ?? "";
  return given["tier"] === undefined ? name : `the tier ${textOf(given["tier"])} of ${name}`;
}

function changesIn(given: MessageJson): readonly MessageJson[] {
  const changes = LIMITS.flatMap(({ type, period, parameter }) => {
    const amount = given[keyOf(parameter)];
    if (amount === undefined) return [];
    const change = { type: type.toLowerCase(), period: period.toLowerCase() };
    return [amount === NO_LIMIT ? { ...change, lift: true } : { ...change, max_amount: amount }];
  });
  if (changes.length > 0) return changes;
  throw new UsageError("Give at least one limit, such as --mint-per-day 1000.00.");
}

/** The limits of a tier have no usage: each account has its own. */
function limitsIn({ limits, tiers }: MessageJson): readonly MessageJson[] {
  const own = limits as { readonly tier: string | null; readonly limits: readonly MessageJson[] };
  const ofTiers = tiers as readonly { readonly tier: string; readonly limits: readonly MessageJson[] }[];
  const owner = own.tier === null ? "organization" : `account, tier ${own.tier}`;
  return [
    ...own.limits.map((limit) => ({ whose: owner, ...limit })),
    ...ofTiers.flatMap(({ tier, limits: set }) => set.map((limit) => ({ whose: `tier ${tier}`, ...limit }))),
  ];
}

/** Parses an amount. Throws an error that Commander prints. */
function amountOrNone(text: string): string {
  const limit = argument(parseNewLimit)(text);
  return limit === "NONE" ? NO_LIMIT : formatCents(limit);
}
