import { create, type DescMessage, fromBinary, fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { expect } from "chai";

import { messageOf, readContract } from "../../../contract/contract.js";
import { MessageWriter } from "../../../contract/json/write-message.js";
import type { RpcStatus } from "../../../contract/rpc.js";
import { toysContract } from "../../support/gateway/toys-contract.js";

const contract = readContract(toysContract());
const toy = messageOf(contract.registry, "toys.v1.Toy");
const report = messageOf(contract.registry, "toys.v1.Report");
const writer = new MessageWriter(contract, (status) =>
  JSON.stringify({ code: (status as typeof status & RpcStatus).code }),
);

describe("a response's JSON", () => {
  it("has every field, in the order of the contract, when nothing is set", () => {
    expect(write({})).to.equal(
      '{"name":"","box":"","price":"","parts":0,"serial":"0","weight":0,"is_loud":false,"picture":"","color":"unspecified",' +
        '"built_at":null,"inner":null,"tags":[],"counts":{},"nickname":null,"by_age":null,"by_size":null,' +
        '"shelves":{},"siblings":[],"ratio":0,"huge":"0","position":0}',
    );
  });

  for (const [name, message, text] of [
    ["a decimal as a bare number with its own digits", { price: "1000.00" }, '"price":1000.00,'],
    ["a large decimal digit by digit", { price: "9999999999999.99" }, '"price":9999999999999.99,'],
    ["a decimal that is no number as a string", { price: "1e3, or so" }, '"price":"1e3, or so",'],
    ["a decimal with a leading zero, which JSON forbids, as a string", { price: "007" }, '"price":"007",'],
    [
      "text with all that JSON escapes",
      { name: 'a"\\\n\u0000é😀\u2028' },
      `"name":${JSON.stringify('a"\\\n\u0000é😀\u2028')},`,
    ],
    ["an enum in lower case without its prefix", { color: "COLOR_DEEP_BLUE" }, '"color":"deep_blue",'],
    ["an enum's number that the contract does not know as a string", { color: 77 }, '"color":"77",'],
    [
      "a time in UTC with milliseconds",
      { builtAt: "2026-01-31T12:00:00.123456789+03:00" },
      '"built_at":"2026-01-31T09:00:00.123Z",',
    ],
    ["a 64-bit number as a string", { serial: "9007199254740993" }, '"serial":"9007199254740993",'],
    [
      "a 64-bit number with the option `number` as a number",
      { position: "9007199254740991" },
      '"position":9007199254740991}',
    ],
    [
      "such a number that is too large, a bug of the server, as a string",
      { position: "9007199254740993" },
      '"position":"9007199254740993"}',
    ],
    ["an unsigned 64-bit number as a string", { huge: "18446744073709551615" }, '"huge":"18446744073709551615"'],
    ["a float", { weight: 1e21 }, '"weight":1e+21,'],
    ["a float that is no number as a string", { weight: "NaN" }, '"weight":"NaN",'],
    ["bytes in base64", { picture: "AQID" }, '"picture":"AQID",'],
    ["a list", { tags: ["a", "b"] }, '"tags":["a","b"],'],
    ["a map as an object", { counts: { a: 1, 'b"': 2 } }, '"counts":{"a":1,"b\\"":2},'],
    ["an optional field that is set to nothing", { nickname: "" }, '"nickname":"",'],
    ["the one field of a oneof that is set", { bySize: "" }, '"by_age":null,"by_size":"",'],
    ["a message in a message", { inner: { price: "0.10" } }, '"inner":{"name":"","box":"","price":0.10,'],
    ["messages in a list", { siblings: [{ name: "x" }] }, '"siblings":[{"name":"x","box":"",'],
  ] satisfies [string, JsonValue, string][]) {
    it(`shows ${name}`, () => {
      expect(write(message)).to.include(text);
      expect(() => JSON.parse(write(message)) as unknown).not.to.throw();
    });
  }

  it("shows a map's key that is called __proto__", () => {
    const message = reflect(toy);
    const counts = toy.fields.find(({ name }) => name === "counts");
    if (counts?.fieldKind !== "map") throw new Error("counts is no map");
    message.get(counts).set("__proto__", 7);
    const received = fromBinary(toy, toBinary(toy, message.message));
    expect(writer.write(toy, received)).to.include('"counts":{"__proto__":7},');
  });

  it("shows one field alone, and null for a message that is not set", () => {
    const inner = toy.fields.find(({ name }) => name === "inner");
    const tags = toy.fields.find(({ name }) => name === "tags");
    if (!inner || !tags) throw new Error("a field of the toy is missing");
    expect(writer.writeField(inner, create(toy))).to.equal("null");
    expect(writer.writeField(tags, fromJson(toy, { tags: ["a"] }))).to.equal('["a"]');
  });

  it("shows a google.rpc.Status as the writer of statuses writes it", () => {
    const troubles = [{ code: 5, message: "None" }, { code: 8 }];
    expect(write({ troubles }, report)).to.equal('{"troubles":[{"code":5},{"code":8}]}');
  });
});

/** Encodes and decodes the message first: the gateway writes messages that it has decoded. */
function write(message: JsonValue, desc: DescMessage = toy): string {
  return writer.write(desc, fromBinary(desc, toBinary(desc, fromJson(desc, message, { registry: contract.registry }))));
}
