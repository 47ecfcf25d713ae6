import { parseMaxAmount } from "../../../domain/limits/limits.js";
import { BEGIN_PAYOUTS_ROLES, mayBeginPayouts } from "../../../domain/operator.js";
import { PAYOUT_MODES } from "../../../domain/rail-account.js";
import type { Cents } from "../../../domain/values/cents.js";
import { type Parsed, parsed, unparsed } from "../../../domain/values/parsed.js";
import type { PayoutMode as PayoutModeMessage } from "../../../gen/kesc/admin/v1/resources.js";
import type { RailAccountProblem, TriedRailAccount } from "../../../operators/rails.js";
import type { RpcRoute } from "../../calls/route.js";
import { done, refuse } from "../../calls/rpc-result.js";
import { parseRequiredWord } from "../../messages/enums.js";
import { fieldsOf } from "../../messages/field-kinds.js";
import { ifPresent } from "../../messages/fields.js";
import { OPERATORS_KINDS } from "../../messages/operators/fields.js";
import { PAYOUT_MODE_MESSAGES, toRailAccount } from "../../messages/operators/messages.js";
import { parseMoment } from "../../messages/timestamp.js";
import { actRoute } from "../acts.js";
import type { HandlersOptions } from "../operator-options.js";
import { registerDeposits } from "./register-deposits.js";

const SECOND_MILLIS = 1_000;
const DAY_SECONDS = 86_400;

const fields = fieldsOf({
  ...OPERATORS_KINDS,
  begin_within_seconds: { as: "beginWithinMillis", parse: parseSeconds },
  confirm_above: { as: "confirmAboveCents", parse: parseLimit },
  credentials: parsed<string>,
  credentials_expire_at: parseMoment,
  float_min: { as: "floatMinCents", parse: parseLimit },
  is_default: parsed<boolean | undefined>,
  payouts: (mode: PayoutModeMessage) => parseRequiredWord(mode, PAYOUT_MODES, PAYOUT_MODE_MESSAGES),
  resolve_alone_max: { as: "resolveAloneMaxCents", parse: parseLimit },
  settings: parsed<string>,
});

const LIMITS = ["begin_within_seconds", "confirm_above", "resolve_alone_max", "float_min"] as const;

/** The rpcs that change accounts at rails. */
export function railActs(options: HandlersOptions): Record<string, RpcRoute> {
  const act = actRoute(options);
  const shown = (account: TriedRailAccount | undefined) => ({ rail_account: account && toRailAccount(account) });
  const ofAccount = ["settings", "credentials", "credentials_expire_at", "is_default", ...LIMITS] as const;
  return {
    setRailAccount: act(
      "setRailAccount",
      { ...fields("rail", ...ofAccount, "note"), shown },
      async ({ note, ...asked }, { organization }) => {
        const prepared = await options.railChanges.prepare(organization, asked);
        return prepared.ok
          ? done({ note, ...prepared.value })
          : refuse({ reason: "INVALID_FIELD", fields: prepared.problems.map(fieldOf) });
      },
    ),
    setDefaultRail: act("setDefaultRail", { ...fields("rail", "note"), shown: () => ({}) }),
    setPayouts: act(
      "setPayouts",
      {
        ...fields("rail", "payouts", "note"),
        takesPowerAway: ({ payouts }) => payouts === "closed",
        shown,
      },
      (given, { who: { operator: by } }) =>
        Promise.resolve(
          given.payouts === "closed" || mayBeginPayouts(by)
            ? done(given)
            : refuse({ reason: "ROLE_REQUIRED", roles: BEGIN_PAYOUTS_ROLES }),
        ),
    ),
    registerDeposits: registerDeposits(options),
  };
}

function fieldOf({ field, problem: message, isMissing }: RailAccountProblem) {
  return { field, message, code: isMissing === true ? "REQUIRED" : "FORMAT" } as const;
}

function parseSeconds(unchecked: number | undefined): Parsed<number | undefined> {
  if (unchecked === undefined) return parsed(undefined);
  return unchecked >= 1 && unchecked <= DAY_SECONDS
    ? parsed(unchecked * SECOND_MILLIS)
    : unparsed(`must be a whole number from 1 to ${String(DAY_SECONDS)}`, "OUT_OF_RANGE");
}

function parseLimit(unchecked: string | undefined): Parsed<Cents | undefined> {
  return ifPresent(unchecked, parseMaxAmount);
}
