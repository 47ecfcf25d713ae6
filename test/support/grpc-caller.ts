import { resolve } from "node:path";

import {
  type ChannelOptions,
  type Client,
  type ClientDuplexStream,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceError,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

import { BadRequest, ErrorInfo, RetryInfo } from "../../src/gen/google/rpc/error_details.js";
import { Status } from "../../src/gen/google/rpc/status.js";

/** How a gRPC call was refused, if it was. */
export interface GrpcRefusal {
  /** 0 is OK. */
  readonly code: number;
  readonly reason: string | undefined;
  readonly facts: Readonly<Record<string, string>>;
  readonly fields: readonly { field: string; description: string }[];
  readonly retryAfter: boolean;
  readonly message: string;
}

/** What a gRPC call came to. */
export interface GrpcAnswer extends GrpcRefusal {
  /** Of the answer, with field names as in the contract. */
  readonly response: Record<string, unknown>;
  readonly metadata: Metadata;
}

export interface GrpcOptions {
  readonly key?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly deadlineMillis?: number;
}

export interface GrpcCaller {
  /** Calls, say, `call("Mint", {…})` on whichever service has it. */
  call(method: string, request: object, options?: GrpcOptions): Promise<GrpcAnswer>;
  /** Streams the requests; answers every response, and how the stream ended. */
  exchange(
    method: string,
    requests: readonly object[],
    options?: GrpcOptions,
  ): Promise<GrpcRefusal & { readonly responses: readonly Record<string, unknown>[] }>;
  close(): void;
}

const SERVICES = ["AccountService", "TransactionService"] as const;

const DEADLINE_MILLIS = 10_000;

type Caller = (
  request: object,
  metadata: Metadata,
  options: { deadline: number },
  done: (error: ServiceError | null, response?: Record<string, unknown>) => void,
) => { on(event: "metadata", listener: (metadata: Metadata) => void): void };

/**
 * A client as an integrator would write it: the proto files, loaded at run time, and no generated
 * code.
 */
export function grpcCaller(address: string, ownKey: string, channelOptions: ChannelOptions = {}): GrpcCaller {
  const contract = loadSync(["kesc/v1/account_service.proto", "kesc/v1/transaction_service.proto"], {
    includeDirs: [resolve("proto"), resolve("node_modules/google-proto-files")],
    keepCase: true,
    enums: String,
    defaults: true,
  });
  const loaded = loadPackageDefinition(contract) as unknown as {
    kesc: { v1: Record<string, new (address: string, credentials: object, options: ChannelOptions) => Client> };
  };
  const clients = SERVICES.map((name) => {
    const Service = loaded.kesc.v1[name];
    if (Service === undefined) throw new Error(`the contract has no ${name}`);
    return new Service(address, credentials.createInsecure(), channelOptions);
  });

  const callerOf = (method: string): unknown => {
    for (const client of clients) {
      const caller: unknown = Reflect.get(client, method);
      if (typeof caller === "function") return caller.bind(client);
    }
    throw new Error(`no service has ${method}`);
  };
  const sentMetadata = ({ key = ownKey, metadata = {} }: GrpcOptions): Metadata => {
    const sent = new Metadata();
    if (key !== "") sent.set("x-api-key", key);
    for (const [name, value] of Object.entries(metadata)) sent.set(name, value);
    return sent;
  };
  return {
    call: (method, request, options = {}) =>
      new Promise((done) => {
        let received = new Metadata();
        const deadline = Date.now() + (options.deadlineMillis ?? DEADLINE_MILLIS);
        const make = callerOf(method) as Caller;
        const call = make(request, sentMetadata(options), { deadline }, (error, response) => {
          done({ ...refusalOf(error), response: response ?? {}, metadata: received });
        });
        call.on("metadata", (initial) => {
          received = initial;
        });
      }),
    exchange: (method, requests, options = {}) =>
      new Promise((done) => {
        const open = callerOf(method) as (metadata: Metadata) => ClientDuplexStream<object, Record<string, unknown>>;
        const stream = open(sentMetadata(options));
        const responses: Record<string, unknown>[] = [];
        let failure: ServiceError | null = null;
        stream.on("data", (response: Record<string, unknown>) => responses.push(response));
        stream.on("error", (error: ServiceError) => {
          failure = error;
        });
        stream.on("end", () => {
          done({ ...refusalOf(failure), responses });
        });
        for (const request of requests) stream.write(request);
        stream.end();
      }),
    close: () => {
      for (const client of clients) client.close();
    },
  };
}

/** Reads what a failed call carries; null is one that worked. */
export function refusalOf(error: ServiceError | null): GrpcRefusal {
  const [encoded] = error?.metadata.get("grpc-status-details-bin") ?? [];
  const details = Buffer.isBuffer(encoded) ? Status.decode(encoded).details : [];
  const detail = (type: string): Buffer | undefined => details.find(({ type_url }) => type_url.endsWith(type))?.value;
  const info = detail("google.rpc.ErrorInfo");
  const badRequest = detail("google.rpc.BadRequest");
  const retry = detail("google.rpc.RetryInfo");
  const { reason, metadata } = info === undefined ? { reason: undefined, metadata: new Map() } : ErrorInfo.decode(info);
  return {
    code: error?.code ?? 0,
    reason,
    facts: Object.fromEntries(metadata) as Record<string, string>,
    fields: badRequest === undefined ? [] : BadRequest.decode(badRequest).field_violations,
    retryAfter: retry !== undefined && RetryInfo.decode(retry).retry_delay !== undefined,
    message: error?.details ?? "",
  };
}
