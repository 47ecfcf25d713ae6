import { createFileRegistry, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  type SourceCodeInfo,
  SourceCodeInfoSchema,
} from "@bufbuild/protobuf/wkt";

/** A file of a descriptor set. */
export interface DescriptorFile {
  /** Without places and comments, which `sourceInfoOf` reads. */
  readonly proto: FileDescriptorProto;
  /** All of the file, serialized. */
  readonly bytes: Buffer;
}

// The numbers of fields in google/protobuf/descriptor.proto.
const FILE = 1;
const SOURCE_CODE_INFO = 9;

const infos = new WeakMap<FileDescriptorProto, Uint8Array>();

/**
 * Reads the files of a serialized google.protobuf.FileDescriptorSet. Their comments stay bytes:
 * parsed, those of the contract take 9 MiB, and hardly a program asks for them.
 */
export function readDescriptorFiles(descriptorSet: Uint8Array): DescriptorFile[] {
  return fieldsOf(descriptorSet).flatMap(({ number, value }) => (number === FILE ? [fileOf(value())] : []));
}

/** Makes one registry of descriptor sets, which may have files in common. */
export function readRegistry(descriptorSets: readonly Uint8Array[]): FileRegistry {
  const files = descriptorSets.flatMap(readDescriptorFiles);
  const distinct = new Map(files.toReversed().map(({ proto }) => [proto.name, proto]));
  const file = files.flatMap(({ proto }) => (distinct.get(proto.name) === proto ? [proto] : []));
  return createFileRegistry({ $typeName: FileDescriptorSetSchema.typeName, file });
}

/** Parses the places and comments of a file. Undefined if its descriptor set has none. */
export function sourceInfoOf(file: FileDescriptorProto): SourceCodeInfo | undefined {
  const bytes = infos.get(file);
  return bytes === undefined ? undefined : fromBinary(SourceCodeInfoSchema, bytes);
}

function fileOf(bytes: Uint8Array): DescriptorFile {
  const fields = fieldsOf(bytes);
  const isInfo = ({ number }: Field): boolean => number === SOURCE_CODE_INFO;
  const others = fields.filter((field) => !isInfo(field)).map(({ whole }) => whole);
  const proto = fromBinary(FileDescriptorProtoSchema, Buffer.concat(others));
  const info = fields.find(isInfo);
  if (info !== undefined) infos.set(proto, info.value());
  return { proto, bytes: Buffer.from(bytes) };
}

interface Field {
  readonly number: number;
  /** The field with its tag. */
  readonly whole: Uint8Array;
  /** Returns what the field holds. Throws if it is no text, message or bytes. */
  readonly value: () => Uint8Array;
}

function fieldsOf(message: Uint8Array): Field[] {
  const fields: Field[] = [];
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const begin = reader.pos;
    const [number, wireType] = reader.tag();
    const content = reader.pos;
    reader.skip(wireType);
    const end = reader.pos;
    const value = (): Uint8Array => new BinaryReader(message.subarray(content, end)).bytes();
    fields.push({ number, whole: message.subarray(begin, end), value });
  }
  return fields;
}
