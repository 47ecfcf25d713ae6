import { type DescMessage, type DescMethod, fromBinary, toBinary } from "@bufbuild/protobuf";

import { numberFields } from "../../../contract/contract.js";
import { parseJson } from "../../../contract/json/parse-json.js";
import { MessageReader } from "../../../contract/json/read-message.js";
import { MessageWriter } from "../../../contract/json/write-message.js";
import type { NumberFields } from "../../../contract/json-support.js";
import { readOperatorsContract } from "../../grpc/messages/contract.js";
import { UsageError } from "../../startup/operator-error.js";
import { refuseProblems } from "../call/contract.js";
import type { MessageJson } from "./row.js";

/** The messages of operators' rpcs, with JSON in the form of the REST API. */
export class AdminContract {
  readonly #methods: ReadonlyMap<string, DescMethod>;
  readonly #numbers: NumberFields;
  readonly #writer: MessageWriter;

  constructor() {
    const { files, services } = readOperatorsContract();
    const methods = services.flatMap(({ name }) => files.getService(name)?.methods ?? []);
    this.#methods = new Map(methods.map((method) => [method.name, method]));
    this.#numbers = numberFields(files);
    // Amounts are strings, as over gRPC: no program that reads the output rounds them.
    this.#writer = new MessageWriter({ ...this.#numbers, isDecimal: () => false }, () => {
      throw new Error("no response of the AdminService has a status");
    });
  }

  /**
   * Encodes a request. Throws an OperatorError that names each bad field: an unknown name, an
   * unknown value, and a value of a wrong type are refused, as in REST.
   */
  encode(rpc: string, fields: MessageJson): Buffer {
    const { input } = this.#method(rpc);
    const json = parseJson(JSON.stringify(fields));
    if (!json.ok) throw new UsageError(`The request ${json.problem}.`);
    const reader = new MessageReader(input, this.#numbers);
    reader.readObject(json.value);
    refuseProblems(reader.problems);
    return Buffer.from(toBinary(input, reader.message));
  }

  /** Decodes a response. Every field of the message is there. */
  decode(rpc: string, bytes: Uint8Array): MessageJson {
    const { output } = this.#method(rpc);
    return JSON.parse(this.#writer.write(output, fromBinary(output, bytes))) as MessageJson;
  }

  /** Returns the types of the request and of the response. */
  messagesOf(rpc: string): { readonly input: DescMessage; readonly output: DescMessage } {
    return this.#method(rpc);
  }

  #method(rpc: string): DescMethod {
    const method = this.#methods.get(rpc);
    if (method === undefined) throw new Error(`no service of operators has an rpc ${rpc}`);
    return method;
  }
}
