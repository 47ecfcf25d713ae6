import { toJson } from "@bufbuild/protobuf";
import { expect } from "chai";

import { messageOf, readContract } from "../../../gateway/contract/contract.js";
import { type Json, parseJson } from "../../../gateway/json/parse-json.js";
import { MessageReader } from "../../../gateway/json/read-message.js";
import { toysContract } from "../../support/gateway/toys-contract.js";

const contract = readContract(toysContract());
const toy = messageOf(contract.registry, "toys.v1.Toy");

describe("a request's JSON", () => {
  for (const [text, message] of [
    ["{}", {}],
    ['{"name": "bear", "box": "", "price": null, "tags": null, "counts": null, "inner": null}', { name: "bear" }],
    ['{"price": 1000.00}', { price: "1000" }],
    ['{"price": 0.1}', { price: "0.1" }],
    ['{"price": 9999999999999.99}', { price: "9999999999999.99" }],
    ['{"price": 123456789012345678901234567890.10}', { price: "123456789012345678901234567890.1" }],
    ['{"price": 1e3}', { price: "1000" }],
    ['{"price": 1.0E7}', { price: "10000000" }],
    ['{"price": 1E+3}', { price: "1000" }],
    ['{"price": 1000.000}', { price: "1000" }],
    ['{"price": 0.010}', { price: "0.01" }],
    ['{"price": 1.234567e2}', { price: "123.4567" }],
    ['{"price": 105e-1}', { price: "10.5" }],
    ['{"price": 105e-4}', { price: "0.0105" }],
    ['{"price": 0.001}', { price: "0.001" }],
    ['{"price": -1.50}', { price: "-1.5" }],
    ['{"price": -0}', { price: "0" }],
    ['{"price": 0e999999999}', { price: "0" }],
    ['{"price": "1e3"}', { price: "1e3" }],
    ['{"price": "12.50"}', { price: "12.50" }],
    ['{"price": "any text, for the server to refuse"}', { price: "any text, for the server to refuse" }],
    ['{"parts": 2147483647}', { parts: 2147483647 }],
    ['{"parts": -2147483648}', { parts: -2147483648 }],
    ['{"parts": 7.0}', { parts: 7 }],
    ['{"serial": 9223372036854775807}', { serial: "9223372036854775807" }],
    ['{"serial": "-9223372036854775808"}', { serial: "-9223372036854775808" }],
    ['{"parts": 1e2, "position": 1.0E7}', { parts: 100, position: "10000000" }],
    ['{"position": 0}', {}],
    ['{"position": 9007199254740991}', { position: "9007199254740991" }],
    ['{"huge": 18446744073709551615}', { huge: "18446744073709551615" }],
    ['{"weight": 1.5e2, "ratio": 0.5}', { weight: 150, ratio: 0.5 }],
    ['{"is_loud": true}', { isLoud: true }],
    ['{"picture": "AQID"}', { picture: "AQID" }],
    ['{"color": "deep_blue"}', { color: "COLOR_DEEP_BLUE" }],
    ['{"built_at": "2026-01-31T12:00:00.250Z"}', { builtAt: "2026-01-31T12:00:00.250Z" }],
    ['{"inner": {"inner": {"name": "small"}}}', { inner: { inner: { name: "small" } } }],
    ['{"tags": ["a", "b"], "siblings": [{"name": "c"}, {}]}', { tags: ["a", "b"], siblings: [{ name: "c" }, {}] }],
    ['{"counts": {"a": 1, "constructor": 2}}', { counts: { a: 1, constructor: 2 } }],
    ['{"shelves": {"-3": "low"}}', { shelves: { "-3": "low" } }],
    ['{"nickname": ""}', { nickname: "" }],
    ['{"by_size": "", "by_age": null}', { bySize: "" }],
    ['{"name": "😀 \\ud83d\\ude00"}', { name: "😀 😀" }],
  ] as const) {
    it(`reads ${text}`, () => {
      expect(read(text)).to.deep.equal({ message, problems: [] });
    });
  }

  it("keeps a map's key that is called __proto__", () => {
    const { message } = read('{"counts": {"__proto__": 7}}');
    expect(JSON.stringify(message)).to.equal('{"counts":{"__proto__":7}}');
  });

  const INT32 = "must be a whole number from -2147483648 to 2147483647";
  const SAFE = "must be a whole number from 0 to 9007199254740991";
  const HALF = "must be valid Unicode: it contains half of a surrogate pair";
  for (const [text, field, problem, code] of [
    ['{"colour": "red"}', "colour", "is not a field of this request", "unknown_field"],
    ['{"colour": null}', "colour", "is not a field of this request", "unknown_field"],
    ['{"builtAt": "2026-01-31T12:00:00Z"}', "builtAt", "is not a field of this request", "unknown_field"],
    ['{"Name": "x"}', "Name", "is not a field of this request", "unknown_field"],
    ['{"__proto__": {"name": "x"}}', "__proto__", "is not a field of this request", "unknown_field"],
    ['{"constructor": "x"}', "constructor", "is not a field of this request", "unknown_field"],
    ['{"": "x"}', '""', "is not a field of this request", "unknown_field"],
    ['{"inner": {"": 1}}', 'inner.""', "is not a field of this request", "unknown_field"],
    ['{"inner": {"doll": 1}}', "inner.doll", "is not a field of this request", "unknown_field"],
    ['{"name": 7}', "name", "must be a string", "wrong_type"],
    ['{"name": true}', "name", "must be a string", "wrong_type"],
    ['{"name": ["x"]}', "name", "must be a string", "wrong_type"],
    ['{"name": {"value": "x"}}', "name", "must be a string", "wrong_type"],
    ['{"name": "half \\ud83d"}', "name", HALF, "format"],
    ['{"name": "\\ude00 half"}', "name", HALF, "format"],
    ['{"price": true}', "price", "must be a number, or a string that contains one", "wrong_type"],
    ['{"price": {}}', "price", "must be a number, or a string that contains one", "wrong_type"],
    ['{"price": "\\ud800"}', "price", HALF, "format"],
    ['{"parts": "7"}', "parts", INT32, "wrong_type"],
    ['{"parts": 7.5}', "parts", INT32, "format"],
    ['{"parts": 1e-2}', "parts", INT32, "format"],
    ['{"price": 1e999999999}', "price", "must have at most 64 digits", "out_of_range"],
    ['{"price": 1e-999999999}', "price", "must have at most 64 digits", "out_of_range"],
    [`{"price": 1${"0".repeat(64)}}`, "price", "must have at most 64 digits", "out_of_range"],
    ['{"parts": 2147483648}', "parts", INT32, "out_of_range"],
    ['{"parts": -2147483649}', "parts", INT32, "out_of_range"],
    ['{"parts": 1.00000000000000000000000000000000001}', "parts", INT32, "format"],
    ['{"by_age": -1}', "by_age", "must be a whole number from 0 to 4294967295", "out_of_range"],
    [
      '{"serial": 9223372036854775808}',
      "serial",
      "must be a whole number from -9223372036854775808 to 9223372036854775807",
      "out_of_range",
    ],
    ['{"position": "7"}', "position", SAFE, "wrong_type"],
    ['{"position": -1}', "position", SAFE, "out_of_range"],
    ['{"position": 9007199254740992}', "position", SAFE, "out_of_range"],
    ['{"position": 1e99}', "position", SAFE, "format"],
    ['{"huge": "x"}', "huge", "must be a whole number from 0 to 18446744073709551615", "wrong_type"],
    ['{"weight": "1.5"}', "weight", "must be a number", "wrong_type"],
    ['{"weight": 1e999}', "weight", "must be a number", "out_of_range"],
    ['{"ratio": 1e39}', "ratio", "must be a number", "out_of_range"],
    ['{"is_loud": "true"}', "is_loud", "must be true or false", "wrong_type"],
    ['{"is_loud": 1}', "is_loud", "must be true or false", "wrong_type"],
    ['{"picture": "?"}', "picture", "must be a string in base64", "format"],
    ['{"color": "green"}', "color", "must be one of red, deep_blue", "unknown_value"],
    ['{"color": "COLOR_RED"}', "color", "must be one of red, deep_blue", "unknown_value"],
    ['{"color": "Red"}', "color", "must be one of red, deep_blue", "unknown_value"],
    ['{"color": "unspecified"}', "color", "must be one of red, deep_blue", "unknown_value"],
    ['{"color": ""}', "color", "must be one of red, deep_blue", "unknown_value"],
    ['{"color": 1}', "color", "must be one of red, deep_blue", "wrong_type"],
    ['{"built_at": "yesterday"}', "built_at", "must be an RFC 3339 time such as 2026-01-31T12:00:00Z", "format"],
    ['{"built_at": 1767225600}', "built_at", "must be an RFC 3339 time such as 2026-01-31T12:00:00Z", "wrong_type"],
    ['{"built_at": {"seconds": 1}}', "built_at", "must be an RFC 3339 time such as 2026-01-31T12:00:00Z", "wrong_type"],
    ['{"inner": "x"}', "inner", "must be an object", "wrong_type"],
    ['{"inner": []}', "inner", "must be an object", "wrong_type"],
    ['{"tags": "a"}', "tags", "must be an array", "wrong_type"],
    ['{"tags": {"0": "a"}}', "tags", "must be an array", "wrong_type"],
    ['{"tags": ["a", 7]}', "tags[1]", "must be a string", "wrong_type"],
    ['{"tags": [null]}', "tags[0]", "must be a string", "wrong_type"],
    ['{"siblings": [{"name": 7}]}', "siblings[0].name", "must be a string", "wrong_type"],
    ['{"counts": []}', "counts", "must be an object", "wrong_type"],
    ['{"counts": {"a": "7"}}', "counts.a", INT32, "wrong_type"],
    ['{"counts": {"a": null}}', "counts.a", INT32, "wrong_type"],
    ['{"counts": {"\\ud800": 7}}', "counts.\ud800", `has a key that ${HALF}`, "format"],
    ['{"shelves": {"top": "x"}}', "shelves.top", `has a key that ${INT32}`, "wrong_type"],
    ['{"by_age": 7, "by_size": "x"}', "by_size", "must not be sent together with by_age", "conflict"],
  ] as const) {
    it(`refuses ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`, () => {
      expect(read(text).problems).to.deep.equal([{ field, code, message: problem }]);
    });
  }

  it("reports all problems at once, in the order of the body, and keeps the other fields", () => {
    const { message, problems } = read('{"doll": 1, "name": "bear", "parts": "7", "inner": {"color": "x"}}');
    expect(problems.map(({ field }) => field)).to.deep.equal(["doll", "parts", "inner.color"]);
    expect(message).to.deep.equal({ name: "bear", inner: {} });
  });

  it("of a PATCH removes a text with null, and refuses null of what cannot be removed", () => {
    const reader = new MessageReader(toy, contract);
    const problem = { code: "wrong_type", message: "must not be null" };
    reader.readObject(json('{"nickname": null, "tags": null, "name": null, "color": null}'), {
      elsewhere: new Map(),
      nullRemoves: true,
    });
    expect(toJson(toy, reader.message)).to.deep.equal({ nickname: "" });
    expect(reader.problems).to.deep.equal(["tags", "name", "color"].map((field) => ({ field, ...problem })));
  });

  it("of a PATCH refuses a list without items: on the wire it is an absent one", () => {
    const reader = new MessageReader(toy, contract);
    reader.readObject(json('{"tags": []}'), { elsewhere: new Map(), nullRemoves: true });
    expect(reader.problems.map(({ field, code }) => [field, code])).to.deep.equal([["tags", "required"]]);
  });

  it("shortens a very long name in a problem", () => {
    expect(read(`{"${"x".repeat(5000)}": 1}`).problems[0]?.field).to.equal(`${"x".repeat(100)}…`);
  });
});

function json(text: string): Json {
  const result = parseJson(text);
  if (!result.ok) throw new Error(`the test's own JSON ${result.problem}`);
  return result.value;
}

function read(text: string) {
  const reader = new MessageReader(toy, contract);
  reader.readObject(json(text));
  return { message: toJson(toy, reader.message), problems: reader.problems };
}
