import { parseMaxAmount } from "../../../domain/limits/limits.js";
import {
  RESERVE_KINDS,
  RESERVE_RULES_MAX,
  type ReserveRule,
  RULE_DAYS_MAX,
  rulesFromText,
  SHARE_MAX_PERCENT,
} from "../../../domain/reserve.js";
import { nairobiDayOf, parseNairobiDay } from "../../../domain/values/nairobi-day.js";
import { type Parsed, parsed, unparsed } from "../../../domain/values/parsed.js";
import { parseStatusReason } from "../../../domain/values/text.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import type { SetReservePlaceRequest, SetReserveRulesRequest } from "../../../gen/kesc/admin/v1/admin_service.js";
import {
  ReserveKind as ReserveKindMessage,
  type ReserveRule as ReserveRuleMessage,
} from "../../../gen/kesc/v1/supply.js";
import type { RpcRoute } from "../../calls/route.js";
import { parseRequiredWord } from "../../messages/enums.js";
import { fieldsOf } from "../../messages/field-kinds.js";
import { fieldProblem, joined, type ParsedFields, parseFields, parseItems } from "../../messages/fields.js";
import { parseStatementForm } from "../../messages/history/statement-form.js";
import { RESERVE_KIND_MESSAGES, toReserveHolding, toReserveRule } from "../../messages/history/supply.js";
import { fields, OPERATORS_KINDS, parseLabel } from "../../messages/operators/fields.js";
import { actRoute } from "../acts.js";
import type { HandlersOptions } from "../operator-options.js";

const SHA256 = /^[0-9a-f]{64}$/;

/** The rpcs that record the reserve, and set the rules about it. */
export function reserveActs(options: HandlersOptions): Record<string, RpcRoute> {
  const act = actRoute(options);
  const now = () => toUnixMillis(options.now());
  const figure = fieldsOf({
    ...OPERATORS_KINDS,
    amount: { as: "amountCents", parse: parseMaxAmount },
    as_of_day: (day: string) => parsePastDay(day, now()),
    document_sha256: parseSha256,
    evidence: parseLabel,
    kind: (kind: ReserveKindMessage) =>
      kind === ReserveKindMessage.RESERVE_KIND_UNSPECIFIED ? parsed(undefined) : parseKind(kind),
    matures_on: parseNairobiDay,
    note: parseStatusReason,
    place: parseLabel,
  });
  const ofFigure = ["place", "amount", "as_of_day", "evidence", "kind", "document_sha256?", "matures_on?"] as const;
  return {
    recordReserve: act("recordReserve", {
      ...figure(...ofFigure, "note"),
      shown: (held) => ({ reserve_holding: held && toReserveHolding(held, now()) }),
    }),
    setReservePlace: act("setReservePlace", {
      parse: parseSetReservePlace,
      shown: (held) => ({ reserve_holding: held && toReserveHolding(held, now()) }),
    }),
    setReserveRules: act("setReserveRules", {
      parse: parseSetReserveRules,
      shown: (head) => ({ rules: rulesFromText(head?.reserveRules ?? "[]").map(toReserveRule) }),
    }),
  };
}

const withNote = fields("note");
const ofPlace = fieldsOf({ place: parseLabel, note: parseStatusReason })("place", "note");

function parseSetReservePlace(request: SetReservePlaceRequest) {
  const { form, place } = request;
  const read = form === undefined ? fieldProblem("form", "is required", "REQUIRED") : parseStatementForm(form, place);
  return joined(ofPlace.parse(request), read, (own, value) => ({ ...own, form: value }));
}

function parseSetReserveRules(request: SetReserveRulesRequest) {
  const rules = parseItems("rules", request.rules, parseRule);
  const given = joined(withNote.parse(request), rules, (own, value) => ({ ...own, rules: value }));
  return given.ok && given.value.rules.length > RESERVE_RULES_MAX
    ? fieldProblem("rules", `must have at most ${String(RESERVE_RULES_MAX)} rules`, "TOO_LONG")
    : given;
}

function parseRule(rule: ReserveRuleMessage): ParsedFields<ReserveRule> {
  const own = parseFields({
    kind: parseKind(rule.kind),
    share_min: parseBound(rule.share_min, 0, SHARE_MAX_PERCENT),
    share_max: parseShareMax(rule),
    days_max: parseBound(rule.days_max, 0, RULE_DAYS_MAX),
    stale_after_days: parseBound(rule.stale_after_days, 1, RULE_DAYS_MAX),
  });
  if (!own.ok) return own;
  const { kind, share_min: shareMin, share_max: shareMax, days_max: daysMax } = own.value;
  return { ok: true, value: { kind, shareMin, shareMax, daysMax, staleAfterDays: rule.stale_after_days } };
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
  return parseRequiredWord(unchecked, RESERVE_KINDS, RESERVE_KIND_MESSAGES);
}

function parseSha256(unchecked: string): Parsed<string> {
  return SHA256.test(unchecked) ? parsed(unchecked) : unparsed("must be 64 characters from 0-9 and a-f");
}

function parsePastDay(unchecked: string, now: ReturnType<typeof toUnixMillis>): ReturnType<typeof parseNairobiDay> {
  const day = parseNairobiDay(unchecked);
  return day.ok && day.value > nairobiDayOf(now) ? unparsed("must not be in the future", "OUT_OF_RANGE") : day;
}
