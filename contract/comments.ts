import type {
  DescEnum,
  DescEnumValue,
  DescField,
  DescFile,
  DescMessage,
  DescMethod,
  DescOneof,
  DescService,
} from "@bufbuild/protobuf";

import { sourceInfoOf } from "../runtime/descriptor-files.js";

type Commented = DescEnum | DescEnumValue | DescField | DescMessage | DescMethod | DescOneof | DescService;

// Paths are written in a space of their own, of field numbers and positions, as the comment of
// SourceCodeInfo.Location.path in google/protobuf/descriptor.proto says.
const IN_FILE = { message: 4, enum: 5, service: 6 };
const IN_MESSAGE = { field: 2, message: 3, enum: 4, oneof: 8 };
const IN_ENUM = { value: 2 };
const IN_SERVICE = { method: 2 };

const texts = new WeakMap<DescFile, ReadonlyMap<string, string>>();

/**
 * Returns the comment above a part of the contract, without the marks of the linter. Its lines are
 * joined, but for those that begin a paragraph or an item of a list. Empty if there is none.
 */
export function commentOf(desc: Commented): string {
  const raw = textsOf("file" in desc ? desc.file : desc.parent.file).get(pathOf(desc).join()) ?? "";
  return raw
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => !line.startsWith("buf:lint:"))
    .join("\n")
    .trim()
    .replaceAll(/(?<!\n)\n(?!\n|- )/g, " ");
}

/** Returns the comment on one line. */
export function lineOf(desc: Commented): string {
  return commentOf(desc).replaceAll(/\s+/g, " ");
}

const NOT_THERE = /\b(?:[Ee]mpty|[Aa]bsent|[Nn]ot set|Set if)\b/;

/**
 * Whether a response can lack the field. REST then writes null. Of a message the words of the
 * contract say it, because every message in protobuf could be absent.
 */
export function canBeNull(field: DescField): boolean {
  const canBeAbsent = field.oneof !== undefined || field.proto.proto3Optional;
  return canBeAbsent || (field.fieldKind === "message" && NOT_THERE.test(lineOf(field)));
}

function textsOf(file: DescFile): ReadonlyMap<string, string> {
  const known = texts.get(file);
  if (known !== undefined) return known;
  const locations = sourceInfoOf(file.proto)?.location ?? [];
  const found = new Map(locations.map(({ path, leadingComments }) => [path.join(), leadingComments]));
  texts.set(file, found);
  return found;
}

function pathOf(desc: Commented): readonly number[] {
  switch (desc.kind) {
    case "message":
      return desc.parent === undefined
        ? [IN_FILE.message, desc.file.proto.messageType.indexOf(desc.proto)]
        : [...pathOf(desc.parent), IN_MESSAGE.message, desc.parent.proto.nestedType.indexOf(desc.proto)];
    case "enum":
      return desc.parent === undefined
        ? [IN_FILE.enum, desc.file.proto.enumType.indexOf(desc.proto)]
        : [...pathOf(desc.parent), IN_MESSAGE.enum, desc.parent.proto.enumType.indexOf(desc.proto)];
    case "enum_value":
      return [...pathOf(desc.parent), IN_ENUM.value, desc.parent.proto.value.indexOf(desc.proto)];
    case "field":
      return [...pathOf(desc.parent), IN_MESSAGE.field, desc.parent.proto.field.indexOf(desc.proto)];
    case "oneof":
      return [...pathOf(desc.parent), IN_MESSAGE.oneof, desc.parent.proto.oneofDecl.indexOf(desc.proto)];
    case "service":
      return [IN_FILE.service, desc.file.proto.service.indexOf(desc.proto)];
    case "rpc":
      return [...pathOf(desc.parent), IN_SERVICE.method, desc.parent.proto.method.indexOf(desc.proto)];
  }
}
