import { readFileSync } from "node:fs";

import {
  create,
  createFileRegistry,
  fromBinary,
  fromJson,
  type JsonObject,
  setExtension,
  toBinary,
} from "@bufbuild/protobuf";
import {
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  MethodOptionsSchema,
} from "@bufbuild/protobuf/wkt";

import { CONTRACT_URL } from "../../../contract/contract.js";

/** An HTTP rule as google.api.HttpRule's JSON. */
export interface ToyRpc {
  readonly name: string;
  readonly input: string;
  readonly output: string;
  readonly http?: JsonObject;
  readonly location?: string;
  readonly batchedBy?: string;
  readonly streams?: boolean;
  readonly resumesBy?: string;
}

export const TOY_RPCS: readonly ToyRpc[] = [
  {
    name: "BuildToy",
    input: "BuildToyRequest",
    output: "Toy",
    http: { post: "/boxes/{box}/toys", body: "toy", additionalBindings: [{ put: "/toys", body: "*" }] },
    location: "/boxes/{box}/toys/{name}",
  },
  {
    name: "FindToys",
    input: "FindToysRequest",
    output: "FindToysResponse",
    http: { get: "/boxes/{box}/toys", responseBody: "toys", additionalBindings: [{ delete: "/toys/{count}" }] },
  },
  { name: "Whisper", input: "Toy", output: "Toy" },
  { name: "FindMany", input: "FindManyRequest", output: "FindManyResponse" },
];

/** A resource that is read and changed by its version. */
export const TOY_VERSIONS: readonly ToyRpc[] = [
  { name: "GetToy", input: "FindToyRequest", output: "PaintedToy", http: { get: "/toys/{name}" } },
  { name: "PaintToy", input: "PaintedToy", output: "PaintedToy", http: { patch: "/toys/{name}", body: "*" } },
  { name: "ScrapToys", input: "FindToysRequest", output: "FindToysResponse", http: { delete: "/toys" } },
];

/** Streams without an end and with one. Some share their paths with lists. */
export const TOY_STREAMS: readonly ToyRpc[] = [
  { name: "ListSightings", input: "WatchToysRequest", output: "WatchToysResponse", http: { get: "/sightings" } },
  {
    name: "WatchToys",
    input: "WatchToysRequest",
    output: "WatchToysResponse",
    http: { get: "/sightings" },
    streams: true,
    resumesBy: "after",
  },
  {
    name: "ExportToys",
    input: "FindToysRequest",
    output: "FindToysResponse",
    http: { get: "/boxes/{box}/export" },
    streams: true,
  },
  { name: "ListToys", input: "FindToysRequest", output: "FindToysResponse", http: { get: "/toys" } },
  { name: "StreamToys", input: "FindToysRequest", output: "FindToysResponse", http: { get: "/toys" }, streams: true },
];

const scalar = (name: string, number: number, type: string, more: JsonObject = {}): JsonObject => ({
  name,
  jsonName: name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
  number,
  type: `TYPE_${type.toUpperCase()}`,
  label: "LABEL_OPTIONAL",
  ...more,
});

const ref = (name: string, number: number, typeName: string, more: JsonObject = {}): JsonObject =>
  scalar(name, number, "message", { typeName, ...more });

const entry = (name: string, key: string, value: JsonObject): JsonObject => ({
  name,
  options: { mapEntry: true },
  field: [scalar("key", 1, key), { ...value, name: "value", number: 2 }],
});

const REPEATED = { label: "LABEL_REPEATED" };

const TOY: JsonObject = {
  name: "Toy",
  field: [
    scalar("name", 1, "string"),
    scalar("box", 2, "string"),
    scalar("price", 3, "string"),
    scalar("parts", 4, "int32"),
    scalar("serial", 5, "int64"),
    scalar("weight", 6, "double"),
    scalar("is_loud", 7, "bool"),
    scalar("picture", 8, "bytes"),
    scalar("color", 9, "enum", { typeName: ".toys.v1.Color" }),
    ref("built_at", 10, ".google.protobuf.Timestamp"),
    ref("inner", 11, ".toys.v1.Toy"),
    scalar("tags", 12, "string", REPEATED),
    ref("counts", 13, ".toys.v1.Toy.CountsEntry", REPEATED),
    scalar("nickname", 14, "string", { proto3Optional: true, oneofIndex: 1 }),
    scalar("by_age", 15, "uint32", { oneofIndex: 0 }),
    scalar("by_size", 16, "string", { oneofIndex: 0 }),
    ref("shelves", 17, ".toys.v1.Toy.ShelvesEntry", REPEATED),
    ref("siblings", 18, ".toys.v1.Toy", REPEATED),
    scalar("ratio", 19, "float"),
    scalar("huge", 20, "uint64"),
    scalar("position", 21, "int64"),
  ],
  oneofDecl: [{ name: "chosen" }, { name: "_nickname" }],
  nestedType: [
    entry("CountsEntry", "string", scalar("value", 2, "int32")),
    entry("ShelvesEntry", "int32", scalar("value", 2, "string")),
  ],
};

const MESSAGES: JsonObject[] = [
  TOY,
  {
    name: "BuildToyRequest",
    field: [
      scalar("box", 1, "string"),
      ref("toy", 2, ".toys.v1.Toy"),
      scalar("is_gift", 3, "bool"),
      scalar("colors", 4, "enum", { typeName: ".toys.v1.Color", ...REPEATED }),
    ],
  },
  {
    name: "FindToysRequest",
    field: [
      scalar("box", 1, "string"),
      scalar("count", 2, "uint32"),
      ref("labels", 3, ".toys.v1.FindToysRequest.LabelsEntry", REPEATED),
      ref("shelves", 4, ".toys.v1.FindToysRequest.ShelvesEntry", REPEATED),
    ],
    nestedType: [
      entry("LabelsEntry", "string", scalar("value", 2, "string")),
      entry("ShelvesEntry", "int32", scalar("value", 2, "int32")),
    ],
  },
  { name: "FindToysResponse", field: [ref("toys", 1, ".toys.v1.Toy", REPEATED)] },
  { name: "FindManyRequest", field: [ref("searches", 1, ".toys.v1.Search", REPEATED)] },
  {
    name: "Search",
    oneofDecl: [{ name: "what" }],
    field: [ref("find", 7, ".toys.v1.FindToyRequest", { oneofIndex: 0 }), scalar("idempotency_key", 8, "string")],
  },
  { name: "FindUnkeyedRequest", field: [ref("searches", 1, ".toys.v1.UnkeyedSearch", REPEATED)] },
  {
    name: "UnkeyedSearch",
    oneofDecl: [{ name: "what" }],
    field: [ref("find", 7, ".toys.v1.FindToyRequest", { oneofIndex: 0 })],
  },
  { name: "FindNumberedRequest", field: [ref("searches", 1, ".toys.v1.NumberedSearch", REPEATED)] },
  {
    name: "NumberedSearch",
    oneofDecl: [{ name: "what" }],
    field: [ref("find", 7, ".toys.v1.FindToyRequest", { oneofIndex: 0 }), scalar("idempotency_key", 8, "int32")],
  },
  { name: "FindKeyedRequest", field: [ref("searches", 1, ".toys.v1.KeyedSearch", REPEATED)] },
  {
    name: "KeyedSearch",
    oneofDecl: [{ name: "what" }],
    field: [ref("find", 7, ".toys.v1.FindKeyedToyRequest", { oneofIndex: 0 }), scalar("idempotency_key", 8, "string")],
  },
  { name: "FindKeyedToyRequest", field: [scalar("name", 1, "string"), scalar("idempotency_key", 2, "string")] },
  { name: "FindToyRequest", field: [scalar("name", 1, "string")] },
  {
    name: "PaintedToy",
    oneofDecl: [{ name: "_etag" }],
    field: [scalar("name", 1, "string"), scalar("etag", 2, "string", { proto3Optional: true, oneofIndex: 0 })],
  },
  { name: "FindToyResponse", field: [ref("toy", 1, ".toys.v1.Toy")] },
  { name: "FindManyResponse", field: [ref("finds", 1, ".toys.v1.Find", REPEATED)] },
  {
    name: "Find",
    oneofDecl: [{ name: "end" }],
    field: [
      ref("toy", 1, ".toys.v1.Toy", { oneofIndex: 0 }),
      ref("trouble", 2, ".google.rpc.Status", { oneofIndex: 0 }),
      scalar("replayed", 3, "bool"),
    ],
  },
  { name: "Report", field: [ref("troubles", 1, ".google.rpc.Status", REPEATED)] },
  { name: "Parcel", field: [scalar("box", 1, "string"), ref("inside", 2, ".google.api.HttpBody")] },
  { name: "WatchToysRequest", field: [scalar("box", 1, "string"), scalar("after", 2, "int64")] },
  {
    name: "WatchToysResponse",
    field: [ref("sightings", 1, ".toys.v1.Sighting", REPEATED), scalar("next_sequence", 2, "int64")],
  },
  {
    name: "Sighting",
    field: [scalar("sequence", 1, "int64"), scalar("type", 2, "string"), ref("toy", 3, ".toys.v1.Toy")],
  },
  { name: "Slow", field: [ref("delay", 1, ".google.protobuf.Duration")] },
];

/** Every field of such a name has the option. */
const NUMBER_FIELDS = [
  ["price", "decimal"],
  ["position", "number"],
  ["after", "number"],
  ["sequence", "number"],
  ["next_sequence", "number"],
] as const;

const COLOR: JsonObject = {
  name: "Color",
  value: ["COLOR_UNSPECIFIED", "COLOR_RED", "COLOR_DEEP_BLUE"].map((name, number) => ({ name, number })),
};

/**
 * A serialized descriptor set of a contract that has nothing of ours but the options and the
 * errors: toys in boxes.
 */
export function toysContract(rpcs: readonly ToyRpc[] = TOY_RPCS, moreMessages: readonly JsonObject[] = []): Uint8Array {
  const set = fromBinary(FileDescriptorSetSchema, readFileSync(CONTRACT_URL));
  const kept = ["kesc/v1/errors.proto", "kesc/v1/options.proto"];
  const foundation = set.file.filter(({ name }) => !name.startsWith("kesc/") || kept.includes(name));
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: foundation }));
  const file = fromJson(FileDescriptorProtoSchema, {
    name: "toys/v1/toys.proto",
    package: "toys.v1",
    syntax: "proto3",
    dependency: [
      "google/api/annotations.proto",
      "google/api/httpbody.proto",
      "google/protobuf/timestamp.proto",
      "google/protobuf/duration.proto",
      "google/rpc/status.proto",
      "kesc/v1/options.proto",
    ],
    messageType: [...MESSAGES, ...moreMessages],
    enumType: [COLOR],
    service: [
      {
        name: "ToyService",
        method: rpcs.map(({ name, input, output, streams }) => ({
          name,
          inputType: `.toys.v1.${input}`,
          outputType: `.toys.v1.${output}`,
          serverStreaming: streams ?? false,
        })),
      },
    ],
  });
  const extension = (name: string) => registry.getExtension(name) ?? expect(name);
  const rule = registry.getMessage("google.api.HttpRule") ?? expect("HttpRule");
  for (const [index, { http, location, batchedBy, resumesBy }] of rpcs.entries()) {
    const options = create(MethodOptionsSchema);
    if (http !== undefined) setExtension(options, extension("google.api.http"), fromJson(rule, http));
    if (location !== undefined) setExtension(options, extension("kesc.v1.location"), location);
    if (batchedBy !== undefined) setExtension(options, extension("kesc.v1.batched_by"), batchedBy);
    if (resumesBy !== undefined) setExtension(options, extension("kesc.v1.resumes_by"), resumesBy);
    const method = file.service[0]?.method[index] ?? expect("method");
    method.options = options;
  }
  for (const [name, option] of NUMBER_FIELDS) {
    for (const field of file.messageType.flatMap((message) => message.field).filter((each) => each.name === name)) {
      field.options = create(FieldOptionsSchema);
      setExtension(field.options, extension(`kesc.v1.${option}`), true);
    }
  }
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [...foundation, file] }));
}

function expect(name: string): never {
  throw new Error(`there is no ${name}`);
}
