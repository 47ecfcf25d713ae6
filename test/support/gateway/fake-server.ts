import { once } from "node:events";

import {
  create,
  type DescMethod,
  type FileRegistry,
  fromBinary,
  fromJson,
  type JsonValue,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import {
  Metadata,
  type sendUnaryData,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  status,
} from "@grpc/grpc-js";

import { messageOf } from "../../../contract/contract.js";

/** One call as the server received it. */
export interface ReceivedCall {
  readonly rpc: string;
  readonly message: JsonValue;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The deadline of the call, in milliseconds from its arrival. */
  readonly deadlineMillis: number;
  /** Resolves when the caller cancels the call. */
  readonly cancelled: Promise<void>;
}

export interface Reply {
  /** The response, as the protobuf JSON of its message. */
  readonly message?: JsonValue;
  readonly headers?: Readonly<Record<string, string>>;
  readonly trailers?: Readonly<Record<string, string>>;
  /** A stream has messages in place of a message. They end before the refusal, if there is one. */
  readonly messages?: Iterable<JsonValue> | AsyncIterable<JsonValue>;
  readonly refusal?: FakeRefusal;
}

export interface FakeRefusal {
  readonly code: status;
  readonly text?: string;
  readonly reason?: string;
  readonly facts?: Readonly<Record<string, string>>;
  readonly violations?: readonly (readonly [field: string, description: string, reason: string])[];
  readonly retryDelay?: string;
}

export type FakeHandler = (call: ReceivedCall) => Reply | Promise<Reply>;

/**
 * Stands in for the server in the tests of the gateway: a real gRPC server on a real socket. A test
 * says how it responds to each rpc of a contract.
 */
export class FakeServer {
  readonly calls: ReceivedCall[] = [];
  handle: FakeHandler = () => ({});
  isServing = true;
  target = "";
  #server: Server | undefined;
  readonly #registry: FileRegistry;

  constructor(registry: FileRegistry) {
    this.#registry = registry;
  }

  /** Listens on any free port at first, and on the same port after a stop. */
  async start(): Promise<void> {
    const server = new Server();
    for (const desc of this.#registry) {
      if (desc.kind === "service")
        desc.methods.forEach((method) => {
          this.#register(server, method);
        });
    }
    const address = this.target === "" ? "127.0.0.1:0" : this.target;
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync(address, ServerCredentials.createInsecure(), (error, bound) => {
        if (error === null) resolve(bound);
        else reject(error);
      });
    });
    this.#server = server;
    this.target = `127.0.0.1:${String(port)}`;
  }

  stop(): void {
    this.#server?.forceShutdown();
  }

  /** Returns the one call that came since the last look. Throws unless there was exactly one. */
  takeCall(): ReceivedCall {
    const [call, ...others] = this.calls.splice(0);
    if (call === undefined || others.length > 0) throw new Error(`there were ${String(others.length)} calls more`);
    return call;
  }

  /** Holds each call from now on until `release`. */
  hold(): { readonly arrived: Promise<undefined>; readonly release: () => void } {
    const [arrived, released] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    this.handle = async () => {
      arrived.resolve(undefined);
      await released.promise;
      return {};
    };
    return {
      arrived: arrived.promise,
      release: () => {
        released.resolve(undefined);
      },
    };
  }

  #register(server: Server, method: DescMethod): void {
    if (method.methodKind === "server_streaming") this.#registerStream(server, method);
    if (method.methodKind !== "unary") return;
    server.register(
      `/${method.parent.typeName}/${method.name}`,
      (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) => {
        void this.#answer(method, call).then(
          ({ reply, bytes }) => {
            call.sendMetadata(metadataOf(reply.headers));
            if (reply.refusal === undefined) callback(null, bytes, metadataOf(reply.trailers));
            else callback(this.#errorOf(reply.refusal));
          },
          (error: unknown) => {
            callback({ code: status.INTERNAL, details: `the test's own handler failed: ${String(error)}` });
          },
        );
      },
      (bytes: Buffer) => bytes,
      (bytes: Buffer) => bytes,
      "unary",
    );
  }

  #registerStream(server: Server, method: DescMethod): void {
    server.register(
      `/${method.parent.typeName}/${method.name}`,
      (call: ServerWritableStream<Buffer, Buffer>) => {
        call.on("error", () => undefined);
        void this.#stream(method, call).catch((error: unknown) => {
          call.emit("error", { code: status.INTERNAL, details: `the test's own handler failed: ${String(error)}` });
        });
      },
      (bytes: Buffer) => bytes,
      (bytes: Buffer) => bytes,
      "serverStream",
    );
  }

  async #stream(method: DescMethod, call: ServerWritableStream<Buffer, Buffer>): Promise<void> {
    const { messages = [], refusal, headers, trailers } = await this.handle(this.#receive(method, call));
    call.sendMetadata(metadataOf(headers));
    for await (const message of messages) {
      if (call.cancelled) return;
      const bytes = Buffer.from(toBinary(method.output, fromJson(method.output, message)));
      if (!call.write(bytes)) await once(call, "drain");
    }
    if (refusal === undefined) call.end(metadataOf(trailers));
    else call.emit("error", this.#errorOf(refusal));
  }

  async #answer(method: DescMethod, call: ServerUnaryCall<Buffer, Buffer>): Promise<{ reply: Reply; bytes: Buffer }> {
    const isHealth = method.parent.typeName === "grpc.health.v1.Health";
    const reply = isHealth
      ? { message: { status: this.isServing ? "SERVING" : "NOT_SERVING" } }
      : await this.handle(this.#receive(method, call));
    return { reply, bytes: Buffer.from(toBinary(method.output, fromJson(method.output, reply.message ?? {}))) };
  }

  #receive(
    method: DescMethod,
    call: ServerUnaryCall<Buffer, Buffer> | ServerWritableStream<Buffer, Buffer>,
  ): ReceivedCall {
    const received: ReceivedCall = {
      rpc: method.name,
      message: toJson(method.input, fromBinary(method.input, call.request), { useProtoFieldName: true }),
      metadata: call.metadata.getMap(),
      deadlineMillis: Number(call.getDeadline()) - Date.now(),
      cancelled: new Promise((resolve) =>
        call.once("cancelled", () => {
          resolve();
        }),
      ),
    };
    this.calls.push(received);
    return received;
  }

  #errorOf(refusal: FakeRefusal) {
    const { code, text = "No.", reason, facts = {}, violations, retryDelay } = refusal;
    const details: [string, JsonValue][] = [];
    if (reason !== undefined) details.push(["google.rpc.ErrorInfo", { reason, domain: "kesc", metadata: facts }]);
    if (violations !== undefined) {
      const fieldViolations = violations.map(([field, description, reason]) => ({ field, description, reason }));
      details.push(["google.rpc.BadRequest", { fieldViolations }]);
    }
    if (retryDelay !== undefined) details.push(["google.rpc.RetryInfo", { retryDelay }]);
    const metadata = new Metadata();
    if (details.length > 0) metadata.set("grpc-status-details-bin", this.#statusBytes(code, text, details));
    return { code, details: text, metadata };
  }

  #statusBytes(code: status, message: string, details: readonly [string, JsonValue][]): Buffer {
    const desc = messageOf(this.#registry, "google.rpc.Status");
    const packed = details.map(([typeName, json]) => {
      const detail = messageOf(this.#registry, typeName);
      return anyPack(detail, fromJson(detail, json));
    });
    return Buffer.from(toBinary(desc, Object.assign(create(desc), { code, message, details: packed })));
  }
}

function metadataOf(values: Readonly<Record<string, string>> = {}): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(values)) metadata.set(name, value);
  return metadata;
}
