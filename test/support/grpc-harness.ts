import {
  type CallOptions,
  Client,
  credentials,
  Metadata,
  type MethodDefinition,
  type ServiceError,
  type StatusObject,
} from "@grpc/grpc-js";
import { pino } from "pino";

import type { Account } from "../../src/domain/account.js";
import { type ApiKey, type Scope, SCOPES } from "../../src/domain/api-key.js";
import type { Command } from "../../src/domain/commands.js";
import { DIRECT_RAIL, type Transaction } from "../../src/domain/transaction.js";
import type { Cents } from "../../src/domain/values/cents.js";
import type { EmailAddress } from "../../src/domain/values/email-address.js";
import type { AccountId, ApiKeyId, OrganizationId, TransactionId } from "../../src/domain/values/ids.js";
import type { PhoneNumber } from "../../src/domain/values/phone-number.js";
import type { Description, Metadata as Pairs, Reference, StatusReason, UserId } from "../../src/domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../src/domain/values/time.js";
import { BadRequest, ErrorInfo, RetryInfo } from "../../src/gen/google/rpc/error_details.js";
import { Status as RpcStatus } from "../../src/gen/google/rpc/status.js";
import type { MintRequest } from "../../src/gen/kesc/v1/transaction_service.js";
import type { GrpcLimits } from "../../src/grpc/limits.js";
import { type GrpcServer, type GrpcServerOptions, startGrpcServer } from "../../src/grpc/server.js";
import type { Outcome } from "../../src/ledger/ports/outcome.js";
import type { Reads } from "../../src/ledger/ports/reads.js";
import { configOf } from "./config.js";

export const ORGANIZATION = "org_01jd2r6p5vf8ksw3xhb1z7q4ye" as OrganizationId;
export const ACCOUNT_ID = "acc_01jd2r6p5vf8ksw3xhb1z7q4ye" as AccountId;
export const TRANSACTION_ID = "txn_01jd2r6p5vf8ksw3xhb1z7q4ye" as TransactionId;
export const KEY_ID = "key_01jd2r6p5vf8ksw3xhb1z7q4ye" as ApiKeyId;
export const SECRET = "kesc_aGoodSecretOfTwentyOrMore";

export function apiKey(changes: Partial<ApiKey> = {}): ApiKey {
  return {
    id: KEY_ID,
    organizationId: ORGANIZATION,
    name: "tests",
    scopes: SCOPES,
    createdAt: toUnixMillis(0),
    expiresAt: undefined,
    revokedAt: undefined,
    ...changes,
  };
}

export function account(changes: Partial<Account> = {}): Account {
  return {
    id: ACCOUNT_ID,
    organizationId: ORGANIZATION,
    userId: "user-1" as UserId,
    phoneNumber: "+254712345678" as PhoneNumber,
    email: "wanjiku@example.com" as EmailAddress,
    status: "ACTIVE",
    statusReason: "" as StatusReason,
    availableCents: 123_456 as Cents,
    heldCents: 5 as Cents,
    createdAt: toUnixMillis(Date.UTC(2026, 0, 2, 3, 4, 5, 678)),
    updatedAt: toUnixMillis(Date.UTC(2026, 0, 3)),
    ...changes,
  };
}

export function transaction(changes: Partial<Transaction> = {}): Transaction {
  return {
    id: TRANSACTION_ID,
    organizationId: ORGANIZATION,
    accountId: ACCOUNT_ID,
    type: "MINT",
    status: "COMPLETED",
    statusReason: "" as StatusReason,
    amountCents: 100_000 as Cents,
    reference: "ref-1" as Reference,
    description: "" as Description,
    metadata: new Map([["till", "12"]]) as ReadonlyMap<string, string> as Pairs,
    rail: DIRECT_RAIL,
    createdAt: toUnixMillis(Date.UTC(2026, 0, 2, 3, 4, 5, 678)),
    updatedAt: toUnixMillis(Date.UTC(2026, 0, 2, 3, 4, 5, 678)),
    completedAt: toUnixMillis(Date.UTC(2026, 0, 2, 3, 4, 5, 678)),
    ...changes,
  };
}

type Resource = Account | Transaction;
type Submit = (command: Command, deadline: UnixMillis) => Promise<Outcome<Resource>>;

export interface ServerUnderTest {
  readonly server: GrpcServer;
  readonly client: Client;
  /** What the ledger was given. */
  readonly submitted: { command: Command; deadline: UnixMillis; bulk: boolean }[];
  /** Every line that was logged. */
  readonly lines: Record<string, unknown>[];
  /** How often a key was looked up in the database. */
  readonly keyReads: { count: number };
  close(): Promise<void>;
}

export interface ServerUnderTestOptions extends Partial<Omit<GrpcServerOptions, "ledger" | "limits">> {
  /** Stands in for the ledger; by default everything is done. */
  readonly submit?: Submit;
  readonly scopes?: readonly Scope[];
  readonly limits?: Partial<GrpcLimits>;
}

/** Starts a real server on a real socket, with ports that answer from memory. */
export async function serve({
  submit = doAnything,
  scopes,
  limits,
  ...options
}: ServerUnderTestOptions = {}): Promise<ServerUnderTest> {
  const submitted: ServerUnderTest["submitted"] = [];
  const lines: ServerUnderTest["lines"] = [];
  const keyReads = { count: 0 };
  const server = await startGrpcServer({
    address: "127.0.0.1:0",
    ledger: {
      submit: (command, deadline, options) => {
        submitted.push({ command, deadline, bulk: options?.bulk === true });
        return submit(command, deadline) as Promise<Outcome<never>>;
      },
    },
    reads: {
      account: async (organizationId, id) =>
        Promise.resolve(organizationId === ORGANIZATION && id === ACCOUNT_ID ? account() : undefined),
      accounts: async () => Promise.resolve({ rows: [account()], nextBeforeSeq: 7 }),
      transaction: async (organizationId, id) =>
        Promise.resolve(organizationId === ORGANIZATION && id === TRANSACTION_ID ? transaction() : undefined),
      transactions: async () => Promise.resolve({ rows: [transaction()], nextBeforeSeq: 7 }),
    },
    keys: {
      apiKeyWithSecret: async (secret) => {
        keyReads.count += 1;
        return Promise.resolve(secret === SECRET ? apiKey(scopes === undefined ? {} : { scopes }) : undefined);
      },
    },
    ping: async () => Promise.resolve(),
    now: () => toUnixMillis(Date.now()),
    newAccountId: () => "acc_01jd2r6p5vf8ksw3xhb1z7q400" as AccountId,
    newTransactionId: () => "txn_01jd2r6p5vf8ksw3xhb1z7q400" as TransactionId,
    logger: pino({ level: "debug" }, { write: (line: string) => void lines.push(JSON.parse(line) as never) }),
    ...options,
    limits: { ...configOf().grpcLimits, ...limits },
  });
  const client = connect(server.address);
  const close = async (): Promise<void> => {
    client.close();
    await server.stop(1_000);
  };
  return { server, client, submitted, lines, keyReads, close };
}

export function connect(address: string): Client {
  return new Client(address, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
}

async function doAnything(command: Command): Promise<Outcome<Resource>> {
  const resource = command.name.endsWith("Account") ? account() : transaction();
  return Promise.resolve({ kind: "done", resource, replayed: false });
}

export const MINT: MintRequest = {
  account_id: ACCOUNT_ID,
  amount: "1000.50",
  reference: "ref-1",
  description: "",
  metadata: new Map(),
};

/** A database that is empty. */
export const emptyReads: Reads = {
  account: async () => Promise.resolve(undefined),
  accounts: async () => Promise.resolve({ rows: [], nextBeforeSeq: undefined }),
  transaction: async () => Promise.resolve(undefined),
  transactions: async () => Promise.resolve({ rows: [], nextBeforeSeq: undefined }),
};

export const KEY = { "x-api-key": SECRET };

export interface Heard<Response> {
  readonly response: Response | undefined;
  readonly error: ServiceError | undefined;
  readonly initial: Metadata;
  readonly status: StatusObject;
  /** From grpc-status-details-bin. */
  readonly details: Details;
}

export interface Details {
  readonly reason?: string;
  readonly domain?: string;
  readonly facts?: Record<string, string>;
  readonly fields?: { field: string; message: string }[];
  readonly retrySeconds?: number;
}

/** Calls, and gathers everything that comes back. Never rejects. */
export function call<Request, Response>(
  client: Client,
  method: Pick<MethodDefinition<Request, Response>, "path" | "requestSerialize" | "responseDeserialize">,
  request: Request,
  { metadata = KEY, ...options }: { metadata?: Record<string, string> } & CallOptions = {},
): Promise<Heard<Response>> {
  const sent = new Metadata();
  for (const [name, value] of Object.entries(metadata)) sent.set(name, value);
  return new Promise((resolve) => {
    let initial = new Metadata();
    let answered: { error: ServiceError | null; response: Response | undefined } | undefined;
    let status: StatusObject | undefined;
    // Answer and status come in no fixed order.
    const settle = (): void => {
      if (answered === undefined || status === undefined) return;
      const { error, response } = answered;
      resolve({ response, error: error ?? undefined, initial, status, details: detailsOf(status.metadata) });
    };
    const calling = client.makeUnaryRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      sent,
      options,
      (error: ServiceError | null, response?: Response) => {
        answered = { error, response };
        settle();
      },
    );
    calling.on("metadata", (metadata: Metadata) => {
      initial = metadata;
    });
    calling.on("status", (ended: StatusObject) => {
      status = ended;
      settle();
    });
  });
}

/** What came back over a stream, and how it ended. */
export interface StreamUnderTest<Request, Response> {
  readonly responses: Response[];
  readonly ended: Promise<{ readonly status: StatusObject; readonly details: Details }>;
  readonly initial: Promise<Metadata>;
  send(request: Request): void;
  /** No more is sent. */
  end(): void;
  cancel(): void;
  /** Reads no more until it resumes. */
  pause(): void;
  resume(): void;
  /** How many requests grpc-js has not handed to the network. */
  unsent(): number;
}

/** Opens a stream, and gathers everything that comes back. */
export function openStream<Request, Response>(
  client: Client,
  method: Pick<MethodDefinition<Request, Response>, "path" | "requestSerialize" | "responseDeserialize">,
  { metadata = KEY, ...options }: { metadata?: Record<string, string> } & CallOptions = {},
): StreamUnderTest<Request, Response> {
  const sent = new Metadata();
  for (const [name, value] of Object.entries(metadata)) sent.set(name, value);
  const { path, requestSerialize, responseDeserialize } = method;
  const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, sent, options);
  const responses: Response[] = [];
  stream.on("data", (response: Response) => responses.push(response));
  // The status says the same.
  stream.on("error", () => undefined);
  const status = new Promise<StatusObject>((resolve) => stream.once("status", resolve));
  const readToTheEnd = new Promise((resolve) => stream.once("end", resolve));
  return {
    responses,
    // The status may come before the last response is read.
    ended: Promise.all([status, readToTheEnd]).then(([ending]) => ({
      status: ending,
      details: detailsOf(ending.metadata),
    })),
    initial: new Promise((resolve) => {
      stream.on("metadata", resolve);
    }),
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
      stream.pause();
    },
    resume: () => {
      stream.resume();
    },
    unsent: () => stream.writableLength,
  };
}

/** What grpc-status-details-bin says. */
export function detailsOf(metadata: Metadata): Details {
  const [bytes] = metadata.get("grpc-status-details-bin");
  return Buffer.isBuffer(bytes) ? detailsIn(RpcStatus.decode(bytes)) : {};
}

/** What a google.rpc.Status says beyond its message. */
export function detailsIn(status: RpcStatus): Details {
  const details: Record<string, unknown> = {};
  for (const { type_url, value } of status.details) {
    if (type_url === "type.googleapis.com/google.rpc.ErrorInfo") {
      const { reason, domain, metadata: facts } = ErrorInfo.decode(value);
      Object.assign(details, { reason, domain, facts: Object.fromEntries(facts) });
    } else if (type_url === "type.googleapis.com/google.rpc.BadRequest") {
      const violations = BadRequest.decode(value).field_violations;
      details["fields"] = violations.map(({ field, description }) => ({ field, message: description }));
    } else if (type_url === "type.googleapis.com/google.rpc.RetryInfo") {
      details["retrySeconds"] = Number(RetryInfo.decode(value).retry_delay?.seconds);
    }
  }
  return details;
}

/** The lines that say how a call ended. */
export function callLines(lines: readonly Record<string, unknown>[]): Record<string, unknown>[] {
  return lines.filter(({ msg }) => msg === "call");
}

/** Resolves once `condition` holds; rejects when it does not within five seconds. */
export async function eventually(condition: () => boolean): Promise<void> {
  const giveUp = Date.now() + 5_000;
  while (!condition()) {
    if (Date.now() > giveUp) throw new Error("it never came true");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
