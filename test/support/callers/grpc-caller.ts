import { readdirSync } from "node:fs";
import { resolve } from "node:path";

import {
  type ChannelCredentials,
  type ChannelOptions,
  Client,
  credentials,
  InterceptingCall,
  type Interceptor,
  Metadata,
  type MethodDefinition,
  type ServiceError,
  type StatusObject,
} from "@grpc/grpc-js";
import { loadSync, type ServiceDefinition } from "@grpc/proto-loader";

import { serverNameFor } from "../../../runtime/transport/server-name.js";
import { detailsOf, type RefusalDetails } from "./refusal.js";
import { expectDetail } from "./style.js";

/** An rpc, as generated code, proto-loader or `jsonMethod` describes it. */
export type Method<Request, Response> = Pick<
  MethodDefinition<Request, Response>,
  "path" | "requestSerialize" | "responseDeserialize"
> & { readonly requestDeserialize?: (bytes: Buffer) => unknown };

/** A message as proto-loader reads it, with field names as in the contract. */
export type Fields = Readonly<Record<string, unknown>>;

/** The organization for which an operator calls: the metadata names it. */
interface OfOrganization {
  readonly organization_id?: string;
}

export interface GrpcOptions {
  /** The organization for which an operator calls. */
  readonly organization?: string;
  /** In place of the caller's own API key; the empty text sends none. */
  readonly key?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly deadlineMillis?: number;
}

/** The status of a call, with the error details of a refusal. */
export interface GrpcStatus extends RefusalDetails {
  /** 0 is OK. */
  readonly code: number;
  readonly message: string;
}

export interface GrpcReply<Response = Fields> extends GrpcStatus {
  readonly response: Response;
  /** The metadata that the server sent before the response. */
  readonly headers: Metadata;
  /** Whether the headers mark the response as a replay. */
  readonly replayed: boolean;
  /** The proposal that the headers name. */
  readonly proposalId: string | undefined;
}

/** A stream in both directions. */
export interface GrpcStream<Request, Response> {
  /** All responses so far. */
  readonly responses: Response[];
  readonly headers: Promise<Metadata>;
  /** Resolves once the last response has been read. */
  readonly ended: Promise<GrpcStatus>;
  send(request: Request): void;
  /** Sends no more. */
  end(): void;
  cancel(): void;
  /** Reads at most one more response until `resume`. */
  pause(): void;
  resume(): void;
  /** How many requests grpc-js has not handed to the network. */
  unsent(): number;
}

/**
 * Calls the service over one connection. A method is named as in the contract ("Mint"), or given as
 * a definition. Named methods are called as an integrator would: proto-loader reads the proto files
 * at run time, and no generated code takes part.
 */
export class GrpcCaller {
  readonly #client: Client;
  readonly #key: string;
  readonly #deadlineMillis: number | undefined;

  /** By default a call has no deadline. */
  constructor(
    address: string,
    {
      key = "",
      deadlineMillis,
      channelOptions = {},
      credentials: channelCredentials = credentials.createInsecure(),
    }: {
      key?: string;
      deadlineMillis?: number;
      channelOptions?: ChannelOptions;
      credentials?: ChannelCredentials;
    } = {},
  ) {
    // Two callers never share a connection: a test that breaks its own must not break another's.
    const options = { "grpc.use_local_subchannel_pool": 1, ...serverNameFor(address), ...channelOptions };
    this.#client = new Client(address, channelCredentials, options);
    this.#key = key;
    this.#deadlineMillis = deadlineMillis;
  }

  /**
   * Calls a unary rpc. Never rejects: an error is a reply with its code. A field that the request
   * of a generated method leaves out is as one that was not sent. A field organization_id goes into
   * the metadata, too.
   */
  call(method: string, request: object, options?: GrpcOptions): Promise<GrpcReply>;
  call<Request, Response>(
    method: Method<Request, Response>,
    request: Partial<NoInfer<Request>> & OfOrganization,
    options?: GrpcOptions,
  ): Promise<GrpcReply<Response | undefined>>;
  async call(
    method: string | Method<never, unknown>,
    request: unknown,
    options: GrpcOptions = {},
  ): Promise<GrpcReply<unknown>> {
    if (typeof method !== "string") {
      const { requestDeserialize } = method;
      const whole =
        requestDeserialize === undefined || request instanceof Uint8Array
          ? request
          : { ...(requestDeserialize(Buffer.alloc(0)) as object), ...(request as object) };
      const { organization_id: organization } = request as OfOrganization;
      return this.#unary(
        method as Method<unknown, unknown>,
        whole,
        organization === undefined ? options : { organization, ...options },
      );
    }
    const reply = await this.#unary(methodNamed(method), request, options);
    return { ...reply, response: reply.response ?? {} };
  }

  /** Opens a stream in both directions. */
  open<Request, Response>(
    { path, requestSerialize, responseDeserialize }: Method<Request, Response>,
    options: GrpcOptions = {},
  ): GrpcStream<Request, Response> {
    const reading = new Reading();
    const stream = this.#client.makeBidiStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      this.#metadata(options),
      { ...this.#deadline(options), interceptors: [reading.interceptor] },
    );
    const responses: Response[] = [];
    stream.on("data", (response: Response) => responses.push(response));
    // The status says the same as the error.
    stream.on("error", () => undefined);
    const status = new Promise<StatusObject>((settle) => stream.once("status", settle));
    const readToTheEnd = new Promise((settle) => stream.once("end", settle));
    return {
      responses,
      headers: new Promise((settle) => {
        stream.once("metadata", settle);
        void status.then(({ metadata }) => {
          settle(metadata);
        });
      }),
      // The status may come before the last response is read.
      ended: Promise.all([status, readToTheEnd]).then(([ending]) => statusOf(ending)),
      send: (request) => {
        stream.write(request);
      },
      end: () => {
        stream.end();
      },
      cancel: () => {
        stream.cancel();
      },
      pause: () => {
        reading.pause();
      },
      resume: () => {
        reading.resume();
      },
      unsent: () => stream.writableLength,
    };
  }

  /** Calls an rpc that answers one request with a stream. */
  watch<Response = Fields>(method: string, request: object, options: GrpcOptions = {}): GrpcStream<unknown, Response> {
    const stream = this.open<unknown, Response>(methodNamed(method) as Method<unknown, Response>, options);
    stream.send(request);
    stream.end();
    return stream;
  }

  /** Sends all requests over a stream; resolves with every response and the status. */
  async exchange(
    method: string,
    requests: readonly object[],
    options: GrpcOptions = {},
  ): Promise<GrpcStatus & { readonly responses: readonly Fields[] }> {
    const stream = this.open<unknown, Fields>(methodNamed(method), options);
    for (const request of requests) stream.send(request);
    stream.end();
    return { ...(await stream.ended), responses: stream.responses };
  }

  close(): void {
    this.#client.close();
  }

  #unary<Request, Response>(
    { path, requestSerialize, responseDeserialize }: Method<Request, Response>,
    request: Request,
    options: GrpcOptions,
  ): Promise<GrpcReply<Response | undefined>> {
    return new Promise((settle) => {
      let headers: Metadata | undefined;
      let response: Response | undefined;
      let status: StatusObject | undefined;
      let hasResponse = false;
      // grpc-js reports the response and the status in no fixed order.
      const settleOnce = (): void => {
        if (!hasResponse || status === undefined) return;
        // A refusal is Trailers-Only: all about it stands in one set of headers.
        headers ??= status.metadata;
        const replayed = headers.get("idempotent-replayed")[0] === "true";
        const [proposalId] = headers.get("kesc-proposal").map(String);
        settle({ ...statusOf(status), response, headers, replayed, proposalId });
      };
      const call = this.#client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        this.#metadata(options),
        this.#deadline(options),
        (_error: ServiceError | null, received?: Response) => {
          response = received;
          hasResponse = true;
          settleOnce();
        },
      );
      call.on("metadata", (received) => {
        headers = received;
      });
      call.on("status", (ending) => {
        status = ending;
        settleOnce();
      });
    });
  }

  #metadata({ key = this.#key, metadata = {}, organization }: GrpcOptions): Metadata {
    const sent = new Metadata();
    if (key !== "") sent.set("x-api-key", key);
    if (organization !== undefined) sent.set("kesc-organization", organization);
    for (const [name, value] of Object.entries(metadata)) sent.set(name, value);
    return sent;
  }

  #deadline({ deadlineMillis = this.#deadlineMillis }: GrpcOptions): { deadline?: number } {
    return deadlineMillis === undefined ? {} : { deadline: Date.now() + deadlineMillis };
  }
}

/** Every refusal of the server has the style of expectDetail, whatever else a test looks at. */
function statusOf({ code, details, metadata }: StatusObject): GrpcStatus {
  const refusal = detailsOf(metadata);
  if (refusal.reason !== undefined) expectDetail(details, refusal.fields);
  return { code, message: details, ...refusal };
}

/**
 * Pauses the reading of a stream. A Node stream that is paused takes 16 more messages. So this
 * holds back the next one: grpc-js asks for no other before that is passed on.
 */
class Reading {
  #paused = false;
  #passOn: (() => void) | undefined;

  readonly interceptor: Interceptor = (options, nextCall) =>
    new InterceptingCall(nextCall(options), {
      start: (metadata, _listener, next) => {
        next(metadata, {
          onReceiveMessage: (message, pass) => {
            if (!this.#paused) {
              pass(message);
              return;
            }
            this.#passOn = () => {
              pass(message);
            };
          },
        });
      },
    });

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#passOn?.();
    this.#passOn = undefined;
  }
}

let loaded: ReadonlyMap<string, Method<unknown, Fields>> | undefined;

function methodNamed(name: string): Method<unknown, Fields> {
  loaded ??= loadMethods();
  const method = loaded.get(name);
  if (method === undefined) throw new Error(`no service of the contract has ${name}`);
  return method;
}

function loadMethods(): ReadonlyMap<string, Method<unknown, Fields>> {
  const services = readdirSync("proto/kesc/v1").filter((name) => name.endsWith("_service.proto"));
  const files = services.map((name) => `kesc/v1/${name}`);
  const contract = loadSync(files, {
    includeDirs: [resolve("proto")],
    keepCase: true,
    enums: String,
    longs: String,
    defaults: true,
  });
  return new Map(
    Object.values(contract)
      .filter((defined): defined is ServiceDefinition => !("format" in defined))
      .flatMap((service) => Object.entries(service)) as [string, Method<unknown, Fields>][],
  );
}
