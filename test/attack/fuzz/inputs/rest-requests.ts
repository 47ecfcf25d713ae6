import type { DescField } from "@bufbuild/protobuf";
import fc from "fast-check";

import type { Route } from "../../../../contract/contract.js";
import { isDecimal, parametersOf, restValue, textOf } from "../../../support/callers/contract-requests.js";
import type { RestCall } from "../../../support/callers/rest-caller.js";
import { type Known, nameText, nearly, numberText, valueOf } from "./values.js";

/** A request, and whether the generator has written a key twice into its body. */
export interface FuzzedRequest {
  readonly path: string;
  readonly call: RestCall;
  readonly repeatsKey: boolean;
}

type Pair = readonly [name: string, value: string];

const NAMES = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "", "id", "organization_id"];

const stringJson = fc.oneof(
  nameText.map((text) => JSON.stringify(text)),
  fc.constantFrom('"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"\\x41"', '"\\', '"\n"', '"\\u00"', "'single'"),
);
const leafJson = fc.oneof(fc.constantFrom("null", "true", "false", "undefined", "{}", "[]"), numberText, stringJson);

const anyJson = fc.letrec<{ value: string; key: string }>((tie) => ({
  key: fc.oneof(
    fc.constantFrom(...NAMES).map((name) => JSON.stringify(name)),
    stringJson,
  ),
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    leafJson,
    fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items.join(",")}]`),
    fc.array(fc.tuple(tie("key"), tie("value")), { maxLength: 3 }).map(objectJson),
  ),
})).value;

function objectJson(members: readonly Pair[]): string {
  return `{${members.map(([key, value]) => `${key}:${value}`).join(",")}}`;
}

/**
 * The member of a body for a field: mostly a good value, else nearly a good one, or anything, or
 * nothing.
 */
function memberOf(field: DescField, known: Known): fc.Arbitrary<readonly Pair[]> {
  const good = valueOf(field, known);
  const json = good.map((value) => JSON.stringify(restValue(field, value)));
  const named = (value: fc.Arbitrary<string>): fc.Arbitrary<readonly Pair[]> =>
    value.map((text) => [[JSON.stringify(field.name), text]]);
  return fc.oneof(
    // A decimal is a number, or a string that holds one.
    { weight: 27, arbitrary: named(isDecimal(field) ? fc.oneof(json, good.map(textOf)) : json) },
    { weight: 1, arbitrary: named(nearly(good.map(textOf)).map((text) => JSON.stringify(text))) },
    { weight: 1, arbitrary: named(anyJson) },
    { weight: 1, arbitrary: fc.constant([]) },
  );
}

/** The index of the member that is written twice. */
const repeated = fc.oneof(
  { weight: 12, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom(0, 1, 2, 3) },
);
const extras = fc.oneof(
  { weight: 12, arbitrary: fc.constant([]) },
  {
    weight: 1,
    arbitrary: fc.array(
      fc.tuple(
        fc.constantFrom(...NAMES).map((name) => JSON.stringify(name)),
        anyJson,
      ),
    ),
  },
);

interface Body {
  readonly body: string | Buffer;
  readonly repeatsKey: boolean;
}

function bodyOf(fields: readonly DescField[], known: Known): fc.Arbitrary<Body> {
  const members = fc
    .tuple(
      fc.tuple(...fields.map((field) => memberOf(field, known))),
      extras,
      repeated,
      fc.constantFrom(",", " ,\r\n\t"),
    )
    .map(([own, more, index, comma]) => {
      const all: Pair[] = [...own.flat(), ...more];
      const again = index === undefined ? undefined : all[index];
      const written = again === undefined ? all : [...all, again];
      const text = `{${written.map(([key, value]) => `${key}:${value}`).join(comma)}}`;
      return { text, repeatsKey: new Set(written.map(([key]) => key)).size < written.length };
    });
  return fc.oneof(
    { weight: 30, arbitrary: members.map(({ text, repeatsKey }): Body => ({ body: text, repeatsKey })) },
    { weight: 3, arbitrary: nearly(members.map(({ text }) => text)).map(unlikely) },
    { weight: 1, arbitrary: anyJson.map(unlikely) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }).map((bytes) => unlikely(Buffer.from(bytes))) },
    { weight: 1, arbitrary: fc.tuple(fc.nat(60_000), fc.constantFrom("[", '{"a":', '{"metadata":')).map(nested) },
    { weight: 1, arbitrary: fc.nat(300_000).map((length) => unlikely(`{"description":"${"x".repeat(length)}"}`)) },
  );
}

function unlikely(body: string | Buffer): Body {
  return { body, repeatsKey: false };
}

function nested([depth, opening]: [number, string]): Body {
  const closing = opening === "[" ? "]" : "}";
  return unlikely(opening.repeat(depth) + "1" + closing.repeat(depth));
}

function queryOf(fields: readonly DescField[], known: Known): fc.Arbitrary<string> {
  const pairs = fields.map((field) => {
    const good = valueOf(field, known).map((value) => parametersOf(field.name, restValue(field, value)).join("&"));
    const odd = fc.constantFrom("%", "%ff", "%C0%80", "%ED%A0%80", "%00", "+", "=", "[]", "null");
    const parameters = fc.oneof(
      { weight: 12, arbitrary: good },
      { weight: 1, arbitrary: nearly(good).map(pathSafe) },
      { weight: 1, arbitrary: odd.map((text) => `${field.name}=${text}`) },
    );
    return fc.option(parameters, { freq: 2 });
  });
  const more = fc.oneof(
    { weight: 12, arbitrary: fc.constant("") },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "__proto__=1",
        "a[__proto__]=1",
        "metadata[__proto__]=1",
        "metadata[]=1",
        "status[0]=1",
        "page_size=1&page_size=2",
        "=",
        "&&&",
        "%=%",
      ),
    },
  );
  return fc
    .tuple(fc.tuple(...pairs), more)
    .map(([own, extra]) => [...own, extra].filter((text) => text !== null && text !== "").join("&"));
}

function pathOf(route: Route, known: Known): fc.Arbitrary<string> {
  const segments = route.path.segments.map(({ kind, name }) => {
    const field = route.pathFields.find((each) => each.name === name);
    if (kind === "text" || field === undefined) return fc.constant(name);
    const good = valueOf(field, known).map((value) => encodeURIComponent(textOf(value)));
    const odd = fc.constantFrom("%", "%ff", "%2f", "..", ".", "%00", "__proto__", "constructor", ";", "*");
    return fc.oneof(
      { weight: 12, arbitrary: good },
      { weight: 1, arbitrary: nearly(good).map(pathSafe) },
      { weight: 1, arbitrary: odd },
    );
  });
  return fc.tuple(...segments).map((parts) => `/${parts.join("/")}`);
}

/** Escapes the characters that HTTP clients refuse to send in a path. */
function pathSafe(text: string): string {
  return text.replace(/[^\x21-\x7e]/gu, encodeURIComponent);
}

const headers = fc.oneof(
  { weight: 8, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.uuid().map((key) => ({ "idempotency-key": key })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Record<string, string | string[]>>(
      { ["__proto__"]: "polluted" },
      { constructor: "x", "x-request-id": "a b" },
      { "idempotency-key": ["one", "two"] },
      { "idempotency-key": "x".repeat(256) },
      { "content-type": "application/json; charset=utf-16" },
      { "content-encoding": "gzip" },
      { traceparent: "00-zz", tracestate: "=" },
      { "x-http-method-override": "DELETE" },
    ),
  },
);

/** Requests of the route, most of them good but for one thing. */
export function requestsOf(route: Route, known: Known, key: string): fc.Arbitrary<FuzzedRequest> {
  const rest = route.rpc.input.fields.filter((field) => !route.pathFields.includes(field));
  const hasBody = route.body.kind !== "none";
  const body = hasBody ? bodyOf(rest, known) : fc.constant({ body: undefined, repeatsKey: false });
  const query = hasBody ? fc.constant("") : queryOf(rest, known);
  return fc
    .tuple(pathOf(route, known), query, body, headers)
    .map(([path, search, { body: sent, repeatsKey }, more]) => ({
      path: search === "" ? path : `${path}?${search}`,
      call: { key, headers: more, body: sent },
      repeatsKey,
    }));
}
