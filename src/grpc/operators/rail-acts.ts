import { parseMaxAmount } from "../../domain/limits/limits.js";
import { PAYOUT_MODES, type PayoutMode } from "../../domain/rail-account.js";
import type { SetDefaultRail, SetPayouts, SetRailAccount } from "../../domain/rails/change-rail-accounts.js";
import { parseRail } from "../../domain/transaction.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import {
  SetDefaultRailRequest,
  SetDefaultRailResponse,
  SetPayoutsRequest,
  SetPayoutsResponse,
  SetRailAccountRequest,
  SetRailAccountResponse,
} from "../../gen/kesc/admin/v1/admin_service.js";
import { PayoutMode as PayoutModeMessage } from "../../gen/kesc/admin/v1/resources.js";
import { BEGIN_PAYOUTS_ROLES, mayBeginPayouts } from "../../operators/operator.js";
import type { RailAccountProblem } from "../../operators/rail-changes.js";
import { ifPresent, parseFields } from "../messages/fields.js";
import { parseMoment } from "../messages/timestamp.js";
import { act, type ActsOptions } from "./acts.js";
import { parseId, parseNote } from "./fields.js";
import { PAYOUT_MODE_MESSAGES, toRailAccount } from "./messages.js";
import type { OperatorRoute, OperatorUnary } from "./operator-call.js";
import { registerDeposits } from "./register-deposits.js";

const SECOND_MILLIS = 1_000;
const DAY_SECONDS = 86_400;

/** The rpcs that change accounts at rails. */
export function railActs(unary: OperatorUnary, options: ActsOptions): Record<string, OperatorRoute> {
  return {
    setRailAccount: setRailAccount(unary, options),
    setDefaultRail: setDefaultRail(unary, options),
    setPayouts: setPayouts(unary, options),
    registerDeposits: registerDeposits(unary, options),
  };
}

function setRailAccount(unary: OperatorUnary, options: ActsOptions): OperatorRoute {
  const { administration, railChanges } = options;
  return unary({
    request: SetRailAccountRequest,
    response: SetRailAccountResponse,
    parse: (request) =>
      parseFields({
        organization_id: parseId<OrganizationId>(request.organization_id),
        rail: parseRail(request.rail),
        settings: parsed(request.settings),
        credentials: parsed(request.credentials),
        credentials_expire_at: parseMoment(request.credentials_expire_at),
        is_default: parsed(request.is_default),
        begin_within_seconds: parseSeconds(request.begin_within_seconds),
        confirm_above: ifPresent(request.confirm_above, parseMaxAmount),
        resolve_alone_max: ifPresent(request.resolve_alone_max, parseMaxAmount),
        float_min: ifPresent(request.float_min, parseMaxAmount),
        note: parseNote(request.note),
      }),
    run: async ({ organization_id: organizationId, note, ...asked }, caller) => {
      const organization = await administration.organization(organizationId);
      if (organization === undefined) {
        return { kind: "refused", refusal: { reason: "ORGANIZATION_NOT_FOUND", organizationId } };
      }
      const { rail, settings, credentials, begin_within_seconds: seconds } = asked;
      const prepared = await railChanges.prepare(organization, {
        rail,
        settings,
        credentials,
        credentialsExpireAt: asked.credentials_expire_at,
        isDefault: asked.is_default,
        beginWithinMillis: seconds === undefined ? undefined : seconds * SECOND_MILLIS,
        confirmAboveCents: asked.confirm_above,
        resolveAloneMaxCents: asked.resolve_alone_max,
        floatMinCents: asked.float_min,
      });
      if (!prepared.ok) {
        return { kind: "refused", refusal: { reason: "INVALID_FIELD", fields: prepared.problems.map(fieldOf) } };
      }
      return act<SetRailAccount, SetRailAccountResponse>(
        options,
        { organizationId, fields: { ...prepared.value, note } },
        caller,
        (account, { proposal }) => ({ rail_account: account && toRailAccount(account), proposal }),
      );
    },
  });
}

function fieldOf({ field, problem: message, isMissing }: RailAccountProblem) {
  return { field, message, code: isMissing === true ? "REQUIRED" : "FORMAT" } as const;
}

function parseSeconds(unchecked: number | undefined): Parsed<number | undefined> {
  return unchecked === undefined || (unchecked >= 1 && unchecked <= DAY_SECONDS)
    ? parsed(unchecked)
    : unparsed(`must be a whole number from 1 to ${String(DAY_SECONDS)}`, "OUT_OF_RANGE");
}

function setDefaultRail(unary: OperatorUnary, options: ActsOptions): OperatorRoute {
  return unary({
    request: SetDefaultRailRequest,
    response: SetDefaultRailResponse,
    parse: (request) =>
      parseFields({
        organization_id: parseId<OrganizationId>(request.organization_id),
        rail: parseRail(request.rail),
        note: parseNote(request.note),
      }),
    run: ({ organization_id: organizationId, rail, note }, caller) =>
      act<SetDefaultRail, SetDefaultRailResponse>(
        options,
        { organizationId, fields: { name: "setDefaultRail", rail, note } },
        caller,
        (_head, rest) => rest,
      ),
  });
}

function setPayouts(unary: OperatorUnary, options: ActsOptions): OperatorRoute {
  return unary({
    request: SetPayoutsRequest,
    response: SetPayoutsResponse,
    parse: (request) =>
      parseFields({
        organization_id: parseId<OrganizationId>(request.organization_id),
        rail: parseRail(request.rail),
        payouts: parsePayouts(request.payouts),
        note: parseNote(request.note),
      }),
    takesPowerAway: ({ payouts }) => payouts === "closed",
    run: async ({ organization_id: organizationId, rail, payouts, note }, caller) => {
      if (payouts !== "closed" && !mayBeginPayouts(caller.key)) {
        return { kind: "refused", refusal: { reason: "ROLE_REQUIRED", roles: BEGIN_PAYOUTS_ROLES } };
      }
      return act<SetPayouts, SetPayoutsResponse>(
        options,
        { organizationId, fields: { name: "setPayouts", rail, payouts, note } },
        caller,
        (account, rest) => ({ rail_account: account && toRailAccount(account), ...rest }),
      );
    },
  });
}

function parsePayouts(unchecked: PayoutModeMessage): Parsed<PayoutMode> {
  if (unchecked === PayoutModeMessage.PAYOUT_MODE_UNSPECIFIED) return unparsed("is required", "REQUIRED");
  const mode = PAYOUT_MODES.find((known) => PAYOUT_MODE_MESSAGES[known] === unchecked);
  return mode === undefined ? unparsed(`must be one of ${PAYOUT_MODES.join(", ")}`, "UNKNOWN_VALUE") : parsed(mode);
}
