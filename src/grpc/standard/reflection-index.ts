import type {
  DescriptorProto,
  EnumDescriptorProto,
  FieldDescriptorProto,
  FileDescriptorProto,
} from "@bufbuild/protobuf/wkt";
import { status as Status } from "@grpc/grpc-js";

import { type DescriptorFile, readDescriptorFiles } from "../../../runtime/descriptor-files.js";
import type { ServerReflectionRequest, ServerReflectionResponse } from "../../gen/grpc/reflection/v1/reflection.js";

type ReflectionReply = NonNullable<ServerReflectionResponse["message_response"]>;

/** Answers the reflection requests of grpcurl and similar tools. */
export class Reflection {
  readonly #serviceNames: readonly string[];
  readonly #filesByName = new Map<string, DescriptorFile>();
  readonly #filesBySymbol = new Map<string, DescriptorFile>();
  /** The keys are the full name of the extended message, then the number of the extension. */
  readonly #filesByExtension = new Map<string, Map<number, DescriptorFile>>();

  /**
   * `descriptorSet` is a serialized google.protobuf.FileDescriptorSet. `serviceNames` are the
   * services of this server.
   */
  constructor(descriptorSet: Uint8Array, serviceNames: readonly string[]) {
    this.#serviceNames = serviceNames;
    for (const file of readDescriptorFiles(descriptorSet)) this.#addFile(file);
  }

  /** Never throws. An invalid request, or one for an unknown name, gets an error response. */
  answer(request: ServerReflectionRequest): ServerReflectionResponse {
    return { valid_host: request.host, original_request: request, message_response: this.#replyTo(request) };
  }

  #replyTo({ message_request: asked }: ServerReflectionRequest): ReflectionReply {
    switch (asked?.$case) {
      case "list_services": {
        const service = this.#serviceNames.map((name) => ({ name }));
        return { $case: "list_services_response", value: { service } };
      }
      case "file_by_filename":
        return this.#filesReply(this.#filesByName.get(asked.value), `file ${asked.value}`);
      case "file_containing_symbol":
        return this.#filesReply(this.#filesBySymbol.get(asked.value), `symbol ${asked.value}`);
      case "file_containing_extension": {
        const { containing_type: type, extension_number: number } = asked.value;
        return this.#filesReply(
          this.#filesByExtension.get(type)?.get(number),
          `extension ${String(number)} of ${type}`,
        );
      }
      case "all_extension_numbers_of_type":
        return this.#extensionNumbersReply(asked.value);
      case undefined:
        return errorReply(Status.INVALID_ARGUMENT, "message_request is missing or unknown");
    }
  }

  #filesReply(file: DescriptorFile | undefined, what: string): ReflectionReply {
    if (file === undefined) return errorReply(Status.NOT_FOUND, `${what} not found`);
    const files = [...this.#withImports(file)];
    return { $case: "file_descriptor_response", value: { file_descriptor_proto: files.map(({ bytes }) => bytes) } };
  }

  #extensionNumbersReply(type: string): ReflectionReply {
    if (!this.#filesBySymbol.has(type)) return errorReply(Status.NOT_FOUND, `symbol ${type} not found`);
    const numbers = [...(this.#filesByExtension.get(type)?.keys() ?? [])];
    return { $case: "all_extension_numbers_response", value: { base_type_name: type, extension_number: numbers } };
  }

  #addFile(file: DescriptorFile): void {
    this.#filesByName.set(file.proto.name, file);
    for (const symbol of symbolsOfFile(file.proto)) this.#filesBySymbol.set(symbol, file);
    for (const { extendee, number } of extensionsOfFile(file.proto)) {
      const type = extendee.replace(/^\./, "");
      const byNumber = this.#filesByExtension.get(type) ?? new Map<number, DescriptorFile>();
      this.#filesByExtension.set(type, byNumber.set(number, file));
    }
  }

  /** Returns the file and all its direct and indirect imports, each once. */
  #withImports(file: DescriptorFile, found = new Set<DescriptorFile>()): Set<DescriptorFile> {
    if (found.has(file)) return found;
    found.add(file);
    for (const name of file.proto.dependency) {
      const imported = this.#filesByName.get(name);
      if (imported !== undefined) this.#withImports(imported, found);
    }
    return found;
  }
}

function errorReply(code: Status, message: string): ReflectionReply {
  return { $case: "error_response", value: { error_code: code, error_message: message } };
}

function symbolsOfFile(file: FileDescriptorProto): string[] {
  const scope = file.package;
  return [
    ...file.messageType.flatMap((message) => symbolsOfMessage(scope, message)),
    ...file.enumType.flatMap((type) => symbolsOfEnum(scope, type)),
    ...file.service.flatMap(({ name, method }) => {
      const service = join(scope, name);
      return [service, ...method.map((rpc) => join(service, rpc.name))];
    }),
    ...file.extension.map(({ name }) => join(scope, name)),
  ];
}

function symbolsOfMessage(scope: string, message: DescriptorProto): string[] {
  const inside = join(scope, message.name);
  const members = [...message.field, ...message.oneofDecl, ...message.extension];
  return [
    inside,
    ...members.map(({ name }) => join(inside, name)),
    ...message.nestedType.flatMap((nested) => symbolsOfMessage(inside, nested)),
    ...message.enumType.flatMap((type) => symbolsOfEnum(inside, type)),
  ];
}

// In protobuf the values of an enum belong to the scope that contains the enum.
function symbolsOfEnum(scope: string, { name, value }: EnumDescriptorProto): string[] {
  return [name, ...value.map((one) => one.name)].map((symbol) => join(scope, symbol));
}

function extensionsOfFile({ extension, messageType }: FileDescriptorProto): FieldDescriptorProto[] {
  return [...extension, ...messageType.flatMap(extensionsOfMessage)];
}

function extensionsOfMessage({ extension, nestedType }: DescriptorProto): FieldDescriptorProto[] {
  return [...extension, ...nestedType.flatMap(extensionsOfMessage)];
}

function join(scope: string, name: string): string {
  return scope === "" ? name : `${scope}.${name}`;
}
