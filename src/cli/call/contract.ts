import { readFileSync } from "node:fs";

import { type DescMethod, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import type { StatusObject } from "@grpc/grpc-js";
import { distance } from "fastest-levenshtein";

import { CONTRACT_URL, messageOf } from "../../../contract/contract.js";
import type { RequestProblem } from "../../../contract/field-problem.js";
import { JsonMessages } from "../../../contract/json/json-messages.js";
import { parseJson } from "../../../contract/json/parse-json.js";
import { RPC_STATUS } from "../../../contract/json-support.js";
import type { RpcStatus } from "../../../contract/rpc.js";
import {
  itemProblemJson,
  type ReadRefusal,
  type Refusal,
  refusalReader,
} from "../../../gateway/problems/upstream-refusal.js";
import { UsageError } from "../../startup/operator-error.js";

const STATUS_DETAILS = "grpc-status-details-bin";
const NEAR_NAMES_MAX = 3;

/** Messages as the commands read and write them, and what a server says of a call. */
export class CalledMessages extends JsonMessages {
  readonly #readRefusal: ReadRefusal = refusalReader(this.registry);

  /** Encodes a request as `readRequest` reads it. */
  encode(method: DescMethod, text: string): Buffer {
    return Buffer.from(toBinary(method.input, this.readRequest(method, text)));
  }

  /** Reads a request as REST does: unknown fields are refused. Throws an OperatorError. */
  readRequest(method: DescMethod, text: string): Message {
    const json = parseJson(text);
    if (!json.ok) throw new UsageError(`The request ${json.problem}.`);
    const reader = this.reader(method);
    reader.readObject(json.value);
    refuseProblems(reader.problems);
    return reader.message;
  }

  /** Returns what the server said, or the connection, of a call that did not end well. */
  refusalIn({ code, details: message, metadata }: StatusObject): Refusal {
    const [bytes] = metadata.get(STATUS_DETAILS);
    const decoded = bytes instanceof Buffer ? fromBinary(messageOf(this.registry, RPC_STATUS), bytes) : undefined;
    const { details = [] } = (decoded ?? {}) as Partial<RpcStatus>;
    return this.#readRefusal({ status: { code, message, details } });
  }

  protected override writeStatus(status: Message): string {
    return itemProblemJson(this.#readRefusal({ status: status as Message & RpcStatus }));
  }
}

/** The contract that the build has put into the package. */
export class CallableContract extends CalledMessages {
  constructor() {
    super([readFileSync(CONTRACT_URL)]);
  }

  /** The full names of all methods, such as "kesc.v1.TransactionService/Mint", sorted. */
  get methodNames(): readonly string[] {
    return [...this.methods.keys()].sort();
  }

  /**
   * Finds a method by its full name, or by the end of its name if only one method has it: "Mint".
   * Throws an OperatorError that lists near names.
   */
  method(name: string): DescMethod {
    const wanted = name.replace(/^\//, "");
    const exact = this.methods.get(wanted);
    if (exact !== undefined) return exact;
    const ending = this.methodNames.filter((known) => known.endsWith(`/${wanted}`) || known.endsWith(`.${wanted}`));
    const [only, another] = ending;
    if (only !== undefined && another === undefined) return this.method(only);
    const near = only === undefined ? this.#nearNames(wanted) : ending;
    throw new UsageError(
      [
        only === undefined ? `There is no method ${name}. Near names:` : `Several methods end with ${name}:`,
        ...near.map((known) => `  ${known}`),
        "To list all methods: kesc call",
      ].join("\n"),
    );
  }

  /** Returns the names that look most like the wanted one, as a whole or without the service. */
  #nearNames(wanted: string): readonly string[] {
    const lastWord = (name: string): string => name.slice(name.search(/[^/.]*$/)).toLowerCase();
    const far = (known: string): number =>
      Math.min(distance(known.toLowerCase(), wanted.toLowerCase()), distance(lastWord(known), lastWord(wanted)));
    return this.methodNames.toSorted((left, right) => far(left) - far(right)).slice(0, NEAR_NAMES_MAX);
  }
}

/** Throws an OperatorError that names each bad field. */
export function refuseProblems(problems: readonly RequestProblem[]): void {
  if (problems.length === 0) return;
  const lines = problems.map(({ field, message }) => `  ${field === "" ? "the request" : field} ${message}`);
  throw new UsageError(["The request is invalid. Nothing was sent.", ...lines].join("\n"));
}
