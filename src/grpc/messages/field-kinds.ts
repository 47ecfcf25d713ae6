import { parseReceiptText } from "../../domain/receipt.js";
import { parseRail } from "../../domain/transaction.js";
import { parseAmount } from "../../domain/values/cents.js";
import { parseEmailAddress } from "../../domain/values/email-address.js";
import {
  parseAccountId,
  parseDepositId,
  parseDestinationId,
  parseFreezeId,
  parseTransactionId,
  parseWebhookEndpointId,
} from "../../domain/values/ids.js";
import { type Parsed, parsed } from "../../domain/values/parsed.js";
import { parsePhoneNumber } from "../../domain/values/phone-number.js";
import { parseDescription, parseStatusReason, parseUserId } from "../../domain/values/text.js";
import { type FieldProblem, ifGiven, type ParsedFields, problemOf } from "./fields.js";

/** A parser also gets the request, for a field that another one decides about. */
type Parser = (unchecked: never, request: never) => Parsed<unknown>;

/** How a field is parsed. The domain knows it by its name in camelCase, or by `as`. */
type Kind = Parser | { readonly as: string; readonly parse: Parser };

/** The kinds of fields, by their names on the wire. A name means the same in each request. */
export const KINDS = {
  account_id: parseAccountId,
  amount: { as: "amountCents", parse: parseAmount },
  deposit_id: parseDepositId,
  description: parseDescription,
  destination_id: parseDestinationId,
  email: parseEmailAddress,
  etag: parsed<string | undefined>,
  freeze_id: parseFreezeId,
  note: parseStatusReason,
  phone_number: parsePhoneNumber,
  rail: parseRail,
  rail_receipt: { as: "receipt", parse: parseReceiptText },
  receipt: parseReceiptText,
  transaction_id: parseTransactionId,
  user_id: parseUserId,
  webhook_endpoint_id: parseWebhookEndpointId,
} as const;

/** The `parse` of an rpc of organizations, by the names of its fields. */
export const fields = fieldsOf(KINDS);

/** The name of a field. One with a question mark is optional: an absent text is undefined. */
type AskedName<Kinds> = (keyof Kinds & string) | `${keyof Kinds & string}?`;
type FieldOf<Name> = Name extends `${infer Field}?` ? Field : Name;
type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Name;

type ParserOf<K> = K extends { readonly parse: infer Parse } ? Parse : K;
type WireOf<K> = ParserOf<K> extends (unchecked: infer Unchecked, request: never) => unknown ? Unchecked : never;
type KindValue<K> = ParserOf<K> extends (unchecked: never, request: never) => Parsed<infer Value> ? Value : never;
type ReadBeside<K> = ParserOf<K> extends (unchecked: never, request: infer Request) => unknown ? Request : unknown;

/** The kind of the field that a name asks for. */
type KindOf<Kinds, Name> = Kinds[FieldOf<Name> & keyof Kinds];
type DomainName<Kinds, Name> =
  KindOf<Kinds, Name> extends { readonly as: infer As extends string } ? As : CamelCase<FieldOf<Name>>;

/** All fields of these names, and what their parsers read beside them. */
type RequestWith<Kinds, Name extends string> = SentFields<{
  [Each in Name as FieldOf<Each> & string]: WireOf<KindOf<Kinds, Each>>;
}> &
  Intersection<{ readonly [Each in Name]: (request: ReadBeside<KindOf<Kinds, Each>>) => void }[Name]>;
/** The generated types mark what can be undefined as optional, too. */
type SentFields<Fields> = Partial<Fields> & {
  readonly [Field in keyof Fields as undefined extends Fields[Field] ? never : Field]: Fields[Field];
};
type Intersection<Takers> = [Takers] extends [(request: infer Request) => void] ? Request : never;
type DomainValues<Kinds, Name extends string> = {
  readonly [Each in Name as DomainName<Kinds, Each> & string]:
    KindValue<KindOf<Kinds, Each>> | (Each extends `${string}?` ? undefined : never);
};

interface Parsing<Kinds, Name extends string> {
  readonly parse: (request: RequestWith<Kinds, Name>) => ParsedFields<DomainValues<Kinds, Name>>;
}

/**
 * Makes `fields`, which returns the `parse` of an rpc whose request has the fields of these names,
 * in an object to spread: TypeScript infers no input of an rpc from a call that returns a function.
 *
 * `parse` returns the values by the names of the domain, so that a command can be made by spreading
 * them. It checks in the order of the names, and returns the problems of all invalid fields.
 */
export function fieldsOf<const Kinds extends Readonly<Record<string, Kind>>>(kinds: Kinds) {
  return <Name extends AskedName<Kinds> = never>(...names: readonly Name[]): Parsing<Kinds, Name> => {
    const asked = names.map((name) => askedOf(kinds, name));
    return {
      parse: (request) => {
        const sent = request as Readonly<Record<string, unknown>>;
        const values: Record<string, unknown> = {};
        const problems: FieldProblem[] = [];
        for (const { field, as, parse } of asked) {
          const value = parse(sent[field], sent);
          if (value.ok) values[as] = value.value;
          else problems.push(problemOf(field, value));
        }
        if (problems.length > 0) return { ok: false, fields: problems };
        // The types of both have the same names.
        return { ok: true, value: values as DomainValues<Kinds, Name> };
      },
    };
  };
}

function askedOf(kinds: Readonly<Record<string, Kind>>, name: string) {
  const field = name.replace("?", "");
  const kind = kinds[field];
  if (kind === undefined) throw new Error(`no field has the name ${name}`);
  const { as, parse } = typeof kind === "function" ? { as: camelCase(field), parse: kind } : kind;
  // The type of the request says what is on the wire.
  const parser = parse as (unchecked: unknown, request: unknown) => Parsed<unknown>;
  if (field === name) return { field, as, parse: parser };
  return {
    field,
    as,
    parse: (unchecked: unknown, request: unknown) => ifGiven(unchecked as string, (text) => parser(text, request)),
  };
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
