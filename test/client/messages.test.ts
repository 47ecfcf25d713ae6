import { readFileSync } from "node:fs";

import {
  create,
  type DescField,
  type DescMessage,
  equals,
  fromBinary,
  type Message,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { expect } from "chai";
import { Webhook } from "standardwebhooks";

import { decode } from "../../client/decode.js";
import { encode } from "../../client/encode.js";
import { MESSAGES, SERVICES } from "../../client/gen/tables.js";
import { type Delivery, KescError, verifyWebhook } from "../../client/kesc-client.js";
import { refusalOf } from "../../client/kesc-error.js";
import { fromJson } from "../../client/webhook.js";
import { CONTRACT_URL, messageOf, readContract } from "../../contract/contract.js";
import { MessageWriter } from "../../contract/json/write-message.js";
import { RPC_STATUS, TIMESTAMP } from "../../contract/json-support.js";

const contract = readContract(readFileSync(CONTRACT_URL));
const writer = new MessageWriter(contract, () => "null");
const rpcs = Object.values(SERVICES).flatMap((service) => Object.values(service));
/** The messages of the contract, by their names in the client. */
const DESCS = Object.keys(MESSAGES)
  .filter((name) => !name.startsWith("google."))
  .map((name) => [name, messageOf(contract.registry, `kesc.v1.${name}`)] as const);
const REQUESTS = DESCS.filter(([name]) => rpcs.some(({ request }) => request === name));

/** A message in which each field has a value that is not zero. Of a oneof it has the first. */
function full(desc: DescMessage, depth = 0): Message {
  const target = reflect(desc);
  for (const field of desc.fields) {
    if (field.oneof !== undefined && field.oneof.fields[0] !== field) continue;
    if (field.message?.typeName === RPC_STATUS || depth > 4) continue;
    if (field.fieldKind === "map") target.get(field).set("order", "17");
    else if (field.fieldKind === "list") {
      for (const value of [valueOf(field, depth), valueOf(field, depth)]) target.get(field).add(value);
    } else target.set(field, valueOf(field, depth));
  }
  return target.message;
}

function valueOf(field: DescField, depth: number): ReflectMessage | string | number | bigint | boolean {
  const { message } = field;
  if (message?.typeName === TIMESTAMP) {
    return reflect(message, Object.assign(create(message), { seconds: 1_794_182_400n, nanos: 123_000_000 }));
  }
  if (message !== undefined) return reflect(message, full(message, depth + 1));
  if (field.enum !== undefined) return field.enum.values.at(-1)?.number ?? 0;
  if (contract.isDecimal(field)) return "9999999999999.99";
  if (field.scalar === ScalarType.STRING) return `é ${field.name}`;
  if (field.scalar === ScalarType.INT64) return BigInt(Number.MAX_SAFE_INTEGER);
  return field.scalar === ScalarType.BOOL ? true : 7;
}

function textOf(error: unknown): string {
  return error instanceof TypeError ? error.message : `no TypeError: ${String(error)}`;
}

describe("the messages of @kesc/client", () => {
  for (const [name, desc] of DESCS) {
    it(`${name} is what REST shows, but for null and for amounts as texts, and JSON keeps it`, () => {
      for (const message of [full(desc), create(desc)]) {
        const decoded = decode(name, toBinary(desc, message), refusalOf);
        expect(decoded).to.deep.equal(fromJson(name, JSON.parse(writer.write(desc, message))));
        expect(JSON.parse(JSON.stringify(decoded))).to.deep.equal(decoded);
      }
    });
  }

  for (const [name, desc] of REQUESTS) {
    it(`${name} is encoded as the contract says`, () => {
      const message = full(desc);
      const bytes = encode(name, decode(name, toBinary(desc, message), refusalOf));
      expect(equals(desc, fromBinary(desc, bytes), message)).to.equal(true);
    });
  }

  it("take a Date, a time of RFC 3339, and every key of metadata", () => {
    const [name, field] = requestWith("time");
    for (const time of [new Date("2026-11-22T09:00:00.250Z"), "2026-11-22T12:00:00.25+03:00"]) {
      expect(decode(name, encode(name, { [field]: time }), refusalOf)[field]).to.equal("2026-11-22T09:00:00.250Z");
    }
    const metadata = JSON.parse('{"__proto__": "data", "constructor": "too"}') as Record<string, string>;
    const { metadata: sent } = decode("MintRequest", encode("MintRequest", { metadata }), refusalOf);
    expect(Object.entries(sent as object)).to.deep.equal(Object.entries(metadata));
  });

  it("keep what only a newer service knows apart from what is known", () => {
    const [name, desc] = DESCS.find(([each]) => each === "Transaction") ?? expect.fail("no Transaction");
    const status = desc.fields.find((field) => field.name === "status") ?? expect.fail("no status");
    const target = reflect(desc);
    target.set(status, 99);
    const ofFuture = Buffer.from([0xfa, 0x7f, 3, 0x61, 0x62, 0x63]);
    const decoded = decode(name, Buffer.concat([toBinary(desc, target.message), ofFuture]), refusalOf);
    expect(decoded["status"]).to.equal("unrecognized");
  });

  const mint = { account_id: "acc_1", amount: "1.00", reference: "one" };
  const [timed, time] = requestWith("time");
  const [listed, statuses] = requestWith("enum", "list");
  for (const [type, request, message] of [
    ["MintRequest", 7, "the request must be an object, not 7"],
    ["MintRequest", [mint], "the request must be an object, not an array"],
    ["MintRequest", { ...mint, amount: 1 }, 'amount must be a string such as "1000.00", not 1'],
    ["MintRequest", { ...mint, reference: null }, "reference must be a string, not null"],
    [
      "MintRequest",
      { ...mint, reference: "\ud800" },
      "reference must be valid Unicode: it has half of a surrogate pair",
    ],
    ["MintRequest", { ...mint, metadata: { a: 1 } }, "metadata.a must be a string, not 1"],
    ["MintRequest", { ...mint, metadata: new Map([["a", "b"]]) }, "metadata must be an object, not a Map"],
    ["MintRequest", { ...mint, amout: "1.00" }, "amout is not a field of MintRequest. Its fields: account_id, amount"],
    ["ListEventsRequest", { after_sequence: 1n }, "after_sequence must be a number, not a bigint"],
    ["ListEventsRequest", { after_sequence: 2 ** 53 }, "after_sequence must be a whole number of at most"],
    ["ListEventsRequest", { page_size: 1.5 }, "page_size must be a whole number of at most 2147483647, not 1.5"],
    ["ListEventsRequest", { types: "account.created" }, 'types must be an array, not "account.created"'],
    [listed, { [statuses]: [3] }, `${statuses}[0] must be one of "`],
    [listed, { [statuses]: ["FROZEN"] }, `${statuses}[0] must be one of "`],
    [listed, { [statuses]: ["toString"] }, `${statuses}[0] must be one of "`],
    [
      timed,
      { [time]: "yesterday" },
      `${time} must be a Date, or a time such as "2026-01-31T12:00:00Z", not "yesterday"`,
    ],
    [timed, { [time]: "2026-02-30T00:00:00Z" }, `${time} must be a Date, or a time`],
    [timed, { [time]: new Date(NaN) }, `${time} must be a Date, or a time`],
    [
      "BatchCreateTransactionsRequest",
      { requests: [{ mint }, { mint, redeem: mint }] },
      "requests[1].redeem must not be set together with requests[1].mint",
    ],
  ] as const) {
    it(`refuse a wrong argument with a TypeError: ${message}`, () => {
      let thrown: unknown;
      try {
        encode(type, request);
      } catch (error) {
        thrown = error;
      }
      expect(textOf(thrown)).to.include(message);
    });
  }
});

/** The name of a request with such a field, and the name of the field. */
function requestWith(kind: string, holds?: string): [string, string] {
  for (const [name] of REQUESTS) {
    const field = MESSAGES[name]?.find((each) => each.kind === kind && each.holds === holds);
    if (field !== undefined) return [name, field.name];
  }
  throw new Error(`no request has a field of the kind ${kind}`);
}

describe("verifyWebhook", () => {
  const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
  const other = `whsec_${Buffer.alloc(32, 2).toString("base64")}`;
  const desc = messageOf(contract.registry, "kesc.v1.Event");
  const event = full(desc);
  const body = `{"type":"account.created","timestamp":"2026-11-22T00:00:00.000Z","data":${writer.write(desc, event)}}`;

  function delivery(given: Partial<Delivery> & { secondsAgo?: number } = {}): Delivery {
    const at = new Date(Date.now() - (given.secondsAgo ?? 0) * 1_000);
    const headers = {
      "webhook-id": "evt_1",
      "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
      "webhook-signature": `v1,AAAA ${new Webhook(secret).sign("evt_1", at, body)}`,
    };
    return { secret, headers, body, ...given };
  }

  function headersOf({ headers }: Delivery): Record<string, string> {
    return headers as Record<string, string>;
  }

  it("returns the event as a watch yields it", () => {
    const watched = decode("Event", toBinary(desc, event), refusalOf);
    for (const given of [
      delivery(),
      delivery({ body: Buffer.from(body) }),
      delivery({ secret: [other, secret] }),
      delivery({ headers: new Headers(headersOf(delivery())) }),
      delivery({ secondsAgo: 290 }),
    ]) {
      expect(verifyWebhook(given)).to.deep.equal(watched);
    }
  });

  for (const [what, given] of [
    ["another secret", delivery({ secret: other })],
    ["another body", delivery({ body: body.replace("account", "transaction") })],
    ["no headers", delivery({ headers: {} })],
    ["an old time", delivery({ secondsAgo: 310 })],
    ["a time to come", delivery({ secondsAgo: -310 })],
    ["no signature", delivery({ headers: { ...headersOf(delivery()), "webhook-signature": "" } })],
  ] as const) {
    it(`throws a KescError: ${what}`, () => {
      try {
        verifyWebhook(given);
        expect.fail("the request was taken");
      } catch (error) {
        expect(error).to.be.instanceOf(KescError).and.to.include({ code: "UNAUTHENTICATED" });
      }
    });
  }

  it("refuses an empty secret, with which anybody could sign", () => {
    for (const empty of ["", "whsec_", [secret, ""]]) {
      expect(() => verifyWebhook(delivery({ secret: empty }))).to.throw(TypeError, /^secret must not be empty/);
    }
  });
});
