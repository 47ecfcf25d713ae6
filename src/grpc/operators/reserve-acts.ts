import type { RecordReserve } from "../../domain/book/record-reserve.js";
import type { SetReserveRules } from "../../domain/book/set-reserve-rules.js";
import { parseMaxAmount } from "../../domain/limits/limits.js";
import {
  RESERVE_KINDS,
  RESERVE_RULES_MAX,
  type ReserveRule,
  RULE_DAYS_MAX,
  rulesFromText,
  SHARE_MAX_PERCENT,
} from "../../domain/reserve.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import { nairobiDayOf, parseNairobiDay } from "../../domain/values/nairobi-day.js";
import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import { parseStatusReason, type StatusReason } from "../../domain/values/text.js";
import { toUnixMillis } from "../../domain/values/time.js";
import {
  RecordReserveRequest,
  RecordReserveResponse,
  SetReserveRulesRequest,
  SetReserveRulesResponse,
} from "../../gen/kesc/admin/v1/admin_service.js";
import { ReserveKind as ReserveKindMessage, type ReserveRule as ReserveRuleMessage } from "../../gen/kesc/v1/supply.js";
import { fieldProblem, ifGiven, type ParsedFields, parseFields } from "../messages/fields.js";
import { RESERVE_KIND_MESSAGES, toReserveHolding, toReserveRule } from "../messages/history/supply.js";
import { act, type ActsOptions } from "./acts.js";
import { parseEnumName, parseId, parseLabel, parseNote } from "./fields.js";
import type { OperatorRoute, OperatorUnary } from "./operator-call.js";

const SHA256 = /^[0-9a-f]{64}$/;

/** The rpcs that record the reserve, and set the rules about it. */
export function reserveActs(unary: OperatorUnary, options: ActsOptions): Record<string, OperatorRoute> {
  return {
    recordReserve: recordReserve(unary, options),
    setReserveRules: setReserveRules(unary, options),
  };
}

function recordReserve(unary: OperatorUnary, options: ActsOptions): OperatorRoute {
  const now = () => toUnixMillis(options.now());
  return unary({
    request: RecordReserveRequest,
    response: RecordReserveResponse,
    parse: (request) =>
      parseFields({
        organization_id: parseId<OrganizationId>(request.organization_id),
        place: parseLabel(request.place),
        amount: parseMaxAmount(request.amount),
        as_of_day: parsePastDay(request.as_of_day, now()),
        evidence: parseLabel(request.evidence),
        kind: parseKind(request.kind || ReserveKindMessage.RESERVE_KIND_OTHER),
        document_sha256: ifGiven(request.document_sha256, parseSha256),
        matures_on: ifGiven(request.matures_on, parseNairobiDay),
        note: parseStatusReason(request.note),
      }),
    run: (given, caller) => {
      const { organization_id: organizationId, amount: amountCents, as_of_day: asOfDay, ...rest } = given;
      const { document_sha256: documentSha256, matures_on: maturesOn, ...others } = rest;
      const fields = { name: "recordReserve", amountCents, asOfDay, documentSha256, maturesOn, ...others } as const;
      return act<RecordReserve, RecordReserveResponse>(options, { organizationId, fields }, caller, (figure, done) => ({
        reserve_holding: figure && toReserveHolding(figure, now()),
        ...done,
      }));
    },
  });
}

function setReserveRules(unary: OperatorUnary, options: ActsOptions): OperatorRoute {
  return unary({
    request: SetReserveRulesRequest,
    response: SetReserveRulesResponse,
    parse: parseSetReserveRules,
    run: ({ organizationId, ...given }, caller) =>
      act<SetReserveRules, SetReserveRulesResponse>(
        options,
        { organizationId, fields: { name: "setReserveRules", ...given } },
        caller,
        (head, rest) => ({ rules: rulesFromText(head?.reserveRules ?? "[]").map(toReserveRule), ...rest }),
      ),
  });
}

interface NewRules {
  readonly organizationId: OrganizationId;
  readonly rules: readonly ReserveRule[];
  readonly note: StatusReason;
}

function parseSetReserveRules(request: SetReserveRulesRequest): ParsedFields<NewRules> {
  const fields = parseFields({
    organization_id: parseId<OrganizationId>(request.organization_id),
    note: parseNote(request.note),
  });
  const rules = request.rules.map(parseRule);
  const problems = [...(fields.ok ? [] : fields.fields), ...rules.flatMap((each) => (each.ok ? [] : each.fields))];
  if (!fields.ok || problems.length > 0) return { ok: false, fields: problems };
  if (rules.length > RESERVE_RULES_MAX) {
    return fieldProblem("rules", `must have at most ${String(RESERVE_RULES_MAX)} rules`, "TOO_LONG");
  }
  const { organization_id: organizationId, note } = fields.value;
  return { ok: true, value: { organizationId, rules: rules.flatMap((each) => (each.ok ? [each.value] : [])), note } };
}

function parseRule(rule: ReserveRuleMessage, index: number): ParsedFields<ReserveRule> {
  const fields = parseFields({
    kind: parseKind(rule.kind),
    share_min: parseBound(rule.share_min, 0, SHARE_MAX_PERCENT),
    share_max: parseShareMax(rule),
    days_max: parseBound(rule.days_max, 0, RULE_DAYS_MAX),
    stale_after_days: parseBound(rule.stale_after_days, 1, RULE_DAYS_MAX),
  });
  if (fields.ok) {
    const { kind, share_min: shareMin, share_max: shareMax, days_max: daysMax } = fields.value;
    return { ok: true, value: { kind, shareMin, shareMax, daysMax, staleAfterDays: rule.stale_after_days } };
  }
  const path = `rules[${String(index)}]`;
  return {
    ok: false,
    fields: fields.fields.map(({ field, ...problem }) => ({ field: `${path}.${field}`, ...problem })),
  };
}

function parseShareMax({
  share_min: min = 0,
  share_max: max,
  ...rule
}: ReserveRuleMessage): Parsed<number | undefined> {
  const hasNone = rule.days_max === undefined && max === undefined && min === 0;
  return hasNone
    ? unparsed("is required without share_min and days_max", "REQUIRED")
    : parseBound(max, min, SHARE_MAX_PERCENT);
}

function parseBound(unchecked: number | undefined, min: number, max: number): Parsed<number | undefined> {
  return unchecked === undefined || (unchecked >= min && unchecked <= max)
    ? parsed(unchecked)
    : unparsed(`must be a whole number from ${String(min)} to ${String(max)}`, "OUT_OF_RANGE");
}

function parseKind(unchecked: ReserveKindMessage): Parsed<(typeof RESERVE_KINDS)[number]> {
  return parseEnumName(unchecked, RESERVE_KINDS, RESERVE_KIND_MESSAGES);
}

function parseSha256(unchecked: string): Parsed<string> {
  return SHA256.test(unchecked) ? parsed(unchecked) : unparsed("must be 64 characters from 0-9 and a-f");
}

function parsePastDay(unchecked: string, now: ReturnType<typeof toUnixMillis>): ReturnType<typeof parseNairobiDay> {
  const day = parseNairobiDay(unchecked);
  return day.ok && day.value > nairobiDayOf(now) ? unparsed("must not be in the future", "OUT_OF_RANGE") : day;
}
