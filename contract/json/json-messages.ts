import { type DescMethod, type FileRegistry, fromBinary, type Message } from "@bufbuild/protobuf";

import { readRegistry } from "../../runtime/descriptor-files.js";
import { numberFields } from "../contract.js";
import type { NumberFields } from "../json-support.js";
import { MessageReader } from "./read-message.js";
import { MessageWriter } from "./write-message.js";

/**
 * The rpcs of descriptor sets, and their messages with JSON in the form of the REST API. Amounts
 * are strings, as over gRPC: no program that reads the JSON rounds them.
 */
export class JsonMessages {
  readonly registry: FileRegistry;
  /** By their full names, such as "kesc.v1.TransactionService/Mint". */
  readonly methods: ReadonlyMap<string, DescMethod>;
  readonly #numbers: NumberFields;
  readonly #writer: MessageWriter;

  constructor(descriptorSets: readonly Uint8Array[]) {
    this.registry = readRegistry(descriptorSets);
    const services = [...this.registry].filter((desc) => desc.kind === "service");
    const methods = services.flatMap((service) => service.methods);
    this.methods = new Map(methods.map((method) => [`${method.parent.typeName}/${method.name}`, method]));
    this.#numbers = numberFields(this.registry);
    this.#writer = new MessageWriter({ ...this.#numbers, isDecimal: () => false }, (status) =>
      this.writeStatus(status),
    );
  }

  /** Returns a reader of one request. */
  reader({ input }: DescMethod): MessageReader {
    return new MessageReader(input, this.#numbers);
  }

  /** Writes a response as JSON on one line. Every field of the message is there. */
  writeResponse({ output }: DescMethod, response: Uint8Array): string {
    return this.#writer.write(output, fromBinary(output, response));
  }

  /** Writes a google.rpc.Status inside a response. */
  protected writeStatus(status: Message): string {
    throw new Error(`no response that is read here has a ${status.$typeName}`);
  }
}
