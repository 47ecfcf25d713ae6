import { type DescEnum, type DescField, getOption, ScalarType } from "@bufbuild/protobuf";

import { commentOf, lineOf } from "../../contract/comments.js";
import { extensionOf } from "../../contract/contract.js";
import { enumName } from "../../contract/json/read-scalar.js";
import type { ConsoleContract, Fields } from "../upstream/contract.js";
import { words } from "../view/values.js";
import type { Act, Given } from "./act.js";
import { ACTS } from "./acts.js";

/** A field of a form. */
export interface FormField {
  readonly name: string;
  /** Such as "Rail receipt". A field of a message that can be absent has the names of both. */
  readonly label: string;
  readonly kind: "text" | "amount" | "number" | "day" | "choice" | "choices" | "tick";
  readonly isRequired: boolean;
  /** What the contract says about the field. */
  readonly hint: string;
  readonly choices: readonly { readonly value: string; readonly meaning: string }[];
  /** Whether the member has it, and not the request. */
  readonly isOfMember: boolean;
}

/** An act with what the contract says about its rpc. */
export interface KnownAct extends Act {
  /** What it does. */
  readonly words: string;
  /** The roles that may do it. */
  readonly roles: readonly string[];
  /** Whether a repeat needs an idempotency key. */
  readonly takesKey: boolean;
  /** Whether it can end with a proposal, for a second person to approve. */
  readonly mayPropose: boolean;
  /** Whether its call names an organization. */
  readonly isOfOrganization: boolean;
  /** Whether the form fills one of several members of the request. It is sent empty, too. */
  readonly isChoice: boolean;
  /** Whether the member is the only item of a list. It is sent empty, too. */
  readonly isItem: boolean;
  /** What the link gives to the member, and not to the request. */
  readonly linkedOfMember: readonly string[];
  /** The fields that are numbers in JSON. */
  readonly numbers: readonly string[];
  /** The names of the fields that the link gives. */
  readonly linked: readonly string[];
  /** Without the organization, and without what the link gives. */
  readonly fields: readonly FormField[];
}

const REQUIRED = 2;
/** The fields that say why, and change nothing of what an act does. */
const WHY: ReadonlySet<string> = new Set(["note", "reason"]);

/** Reads each act of the console from the contract. Throws for one that the contract lacks. */
export function knownActs(
  contract: Pick<ConsoleContract, "isOfOrganization" | "methodOf" | "registry">,
): ReadonlyMap<string, KnownAct> {
  const { registry } = contract;
  const options = {
    roles: extensionOf(registry, "kesc.v1.operator_roles"),
    anyRole: extensionOf(registry, "kesc.v1.any_role"),
    key: extensionOf(registry, "kesc.v1.takes_idempotency_key"),
    behavior: extensionOf(registry, "google.api.field_behavior"),
    decimal: extensionOf(registry, "kesc.v1.decimal"),
    number: extensionOf(registry, "kesc.v1.number"),
    operatorsGive: extensionOf(registry, "kesc.v1.operators_give"),
    secondPerson: extensionOf(registry, "kesc.v1.second_person"),
  };
  const isNumber = (field: DescField): boolean =>
    getOption(field, options.number) === true || field.scalar === ScalarType.INT32;
  const isAlone = (member: DescField | undefined): boolean =>
    member === undefined || member.oneof !== undefined || member.fieldKind === "list";
  const formField = (field: DescField, member?: DescField): FormField => ({
    name: field.name,
    label: labelOf(isAlone(member) ? field.name : `${member?.name ?? ""}_${field.name}`),
    kind: isNumber(field) ? "number" : kindOf(field, getOption(field, options.decimal) === true),
    isRequired:
      member?.oneof !== undefined ||
      getOption(field, options.operatorsGive) === true ||
      (isAlone(member) && (getOption(field, options.behavior) as readonly number[]).includes(REQUIRED)),
    hint: lineOf(field),
    choices: field.enum === undefined ? [] : choicesOf(field.enum),
    isOfMember: member !== undefined,
  });
  const roleEnum = registry.getEnum("kesc.admin.v1.Role");
  const all: readonly string[] = roleEnum === undefined ? [] : choicesOf(roleEnum).map(({ value }) => value);
  return new Map(
    ACTS.map((act) => {
      const method = contract.methodOf(act.rpc);
      const { fields } = method.input;
      const memberField = fields.find(({ name }) => name === act.member);
      const member = memberField?.message;
      const isChoice = memberField?.oneof !== undefined;
      const linked = [...(act.subject === undefined ? [] : [act.subject]), ...(act.given ?? [])];
      const without = [...linked, ...(act.without ?? []), ...Object.keys(act.fixed ?? {})];
      const own = [
        ...(member?.fields ?? []).map((field) => formField(field, memberField)),
        ...fields.filter(isOfForm).map((field) => formField(field)),
      ];
      return [
        act.name,
        {
          ...act,
          // What has happened says more than that somebody says so. The page says itself what a
          // repeat does, and whether a second person may be needed.
          words: commentOf(isChoice ? memberField : method)
            .replace(/\n\n[^]*$/, "")
            .replace(/\s(Above the|Refuses)[\s,][^]*$/, "")
            .replaceAll(/\s(A second person may|A repeat) [^.]*\./g, ""),
          roles:
            act.roles ??
            (getOption(method, options.anyRole) === true ? all : (getOption(method, options.roles) as typeof all)),
          takesKey: getOption(method, options.key) === true,
          mayPropose: getOption(method, options.secondPerson) === true,
          isOfOrganization: contract.isOfOrganization(act.rpc),
          isChoice,
          isItem: memberField?.fieldKind === "list",
          linkedOfMember: linked.filter((name) => member?.fields.some((field) => field.name === name)),
          numbers: fields.filter(isNumber).map(({ name }) => name),
          linked,
          fields: own.filter(({ name }) => !without.includes(name)),
        },
      ];
    }),
  );
}

/** Returns "Rail receipt" for "rail_receipt". */
export function labelOf(name: string): string {
  return words(name).replace(/^./, (first) => first.toUpperCase());
}

/**
 * Whether what an act does is known before its form is filled in: its form is its question, too.
 * What nothing brings back has both, unless there is nothing to fill in.
 */
export function isAskedAtOnce({ fields, isFinal }: KnownAct): boolean {
  return fields.every(({ name }) => isFinal !== true && WHY.has(name));
}

/** Returns what the link to an act has given. */
export function linkedOf({ linked }: KnownAct, given: Given): Given {
  return Object.fromEntries(linked.map((name) => [name, given[name] ?? ""]));
}

/** Returns what a person has filled in. */
export function filledOf({ fields }: KnownAct, given: Given): Given {
  const pairs = fields.map(({ name }) => [name, (given[name] ?? "").trim()] as const);
  return Object.fromEntries(pairs.filter(([, text]) => text !== ""));
}

/** Returns both. */
export function allOf(act: KnownAct, given: Given): Given {
  return { ...linkedOf(act, given), ...filledOf(act, given) };
}

/** Returns the request of an act. A field that is empty is absent, so the server names it. */
export function requestOf(act: KnownAct, given: Given): Fields {
  const linked = Object.entries(linkedOf(act, given)).filter(([, text]) => text !== "");
  const filled = filledOf(act, given);
  const isOfMember = ([name]: readonly [string, string]): boolean => act.linkedOfMember.includes(name);
  const values: Record<string, unknown> = Object.fromEntries(linked.filter((pair) => !isOfMember(pair)));
  const ofMember: Record<string, unknown> = Object.fromEntries(linked.filter(isOfMember));
  for (const { name, kind, isOfMember: isInMember } of act.fields) {
    const written = filled[name] ?? "";
    // People write "1,000.00", as the pages do.
    const text = kind === "amount" ? written.replaceAll(/[,\s]/g, "") : written;
    if (text === "") continue;
    const value = kind === "tick" && text === "true" ? true : kind === "choices" ? text.split(",") : text;
    (isInMember ? ofMember : values)[name] = value;
  }
  for (const name of act.numbers) {
    const text = values[name];
    if (typeof text === "string" && /^[0-9]{1,15}$/.test(text)) values[name] = Number(text);
  }
  return {
    ...values,
    ...act.fixed,
    ...(act.member !== undefined && (act.isChoice || act.isItem || Object.keys(ofMember).length > 0)
      ? { [act.member]: act.isItem ? [ofMember] : ofMember }
      : {}),
  };
}

function isOfForm(field: DescField): boolean {
  const { fieldKind } = field;
  return fieldKind === "scalar" || fieldKind === "enum" || (fieldKind === "list" && field.listKind === "enum");
}

function kindOf(field: DescField, isDecimal: boolean): FormField["kind"] {
  if (field.enum !== undefined) return field.fieldKind === "list" ? "choices" : "choice";
  if (field.scalar === ScalarType.BOOL) return "tick";
  if (isDecimal) return "amount";
  return field.name.endsWith("_day") ? "day" : "text";
}

/** Returns the values that a request may have, as JSON names them. */
function choicesOf(desc: DescEnum): FormField["choices"] {
  return desc.values
    .filter(({ number }) => number !== 0)
    .map((value) => ({ value: enumName(desc, value.name), meaning: lineOf(value) }));
}
