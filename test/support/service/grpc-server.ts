import type { Account, AccountWithFreeze } from "../../../src/domain/account.js";
import { type ApiKey, type Scope, SCOPES } from "../../../src/domain/api-key.js";
import type { Deposit } from "../../../src/domain/deposit.js";
import type { Destination } from "../../../src/domain/destination.js";
import type { Command } from "../../../src/domain/operations.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import type { Cents } from "../../../src/domain/values/cents.js";
import type { EmailAddress } from "../../../src/domain/values/email-address.js";
import type {
  AccountId,
  ApiKeyId,
  DepositId,
  DestinationId,
  FreezeId,
  OrganizationId,
  TransactionId,
  WebhookEndpointId,
} from "../../../src/domain/values/ids.js";
import type { Metadata as Pairs, Reference, UserId } from "../../../src/domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import { Follower } from "../../../src/events/follower.js";
import type { EventReads } from "../../../src/events/ports.js";
import type { MintRequest } from "../../../src/gen/kesc/v1/transaction_service.js";
import type { GrpcLimits } from "../../../src/grpc/limits.js";
import { eventCodec } from "../../../src/grpc/messages/events/event.js";
import { type GrpcServer, type GrpcServerOptions, startGrpcServer } from "../../../src/grpc/server.js";
import type { CellRails, CellWebhooks, ServedCell } from "../../../src/grpc/services/served-cell.js";
import type { Outcome } from "../../../src/ledger/ports/outcome.js";
import type { Page, Reads } from "../../../src/ledger/ports/reads.js";
import type { SealReads } from "../../../src/seals/ports.js";
import type { HistoryReads } from "../../../src/statements/ports.js";
import { AllowedHosts } from "../../../src/webhooks/allowed.js";
import { GrpcCaller } from "../callers/grpc-caller.js";
import { configOf } from "../config.js";
import { givenAccountAndHolder, givenDeposit, givenDestination, givenFreeze, givenTransaction } from "../given.js";
import { logInto, type LogLine } from "./log-lines.js";
import { MemoryEvents } from "./memory-events.js";
import { MemoryRails } from "./memory-rails.js";

const STOP_MILLIS_MAX = 1_000;

export const ORGANIZATION = "org_01jd2r6p5vf8ksw3xhb1z7q4ye" as OrganizationId;
export const ACCOUNT_ID = "acc_01jd2r6p5vf8ksw3xhb1z7q4ye" as AccountId;
export const FREEZE_ID = "frz_01jd2r6p5vf8ksw3xhb1z7q4ye" as FreezeId;
export const TRANSACTION_ID = "txn_01jd2r6p5vf8ksw3xhb1z7q4ye" as TransactionId;
const DEPOSIT_ID = "dep_01jd2r6p5vf8ksw3xhb1z7q4ye" as DepositId;
const DESTINATION_ID = "dst_01jd2r6p5vf8ksw3xhb1z7q4ye" as DestinationId;
export const KEY_ID = "key_01jd2r6p5vf8ksw3xhb1z7q4ye" as ApiKeyId;
export const SECRET = "kesc_aGoodSecretOfTwentyOrMore";

export function apiKey(changes: Partial<ApiKey> = {}): ApiKey {
  return {
    id: KEY_ID,
    organizationId: ORGANIZATION,
    cell: 0,
    name: "tests",
    scopes: SCOPES,
    createdAt: toUnixMillis(0),
    expiresAt: undefined,
    revokedAt: undefined,
    lastUsedAt: undefined,
    ...changes,
  };
}

export function account(changes: Partial<Account> = {}): Account {
  const given = givenAccountAndHolder(
    {
      id: ACCOUNT_ID,
      organizationId: ORGANIZATION,
      availableCents: 123_456 as Cents,
      heldCents: 5 as Cents,
      createdAt: toUnixMillis(Date.UTC(2026, 0, 2, 3, 4, 5, 678)),
      updatedAt: toUnixMillis(Date.UTC(2026, 0, 3)),
    },
    { userId: "user-1" as UserId, email: "wanjiku@example.com" as EmailAddress },
  );
  return { ...given, ...changes };
}

/** The account with one freeze, for fraud. */
function frozenAccount(): AccountWithFreeze {
  const freeze = givenFreeze({ id: FREEZE_ID, accountId: ACCOUNT_ID, reason: "FRAUD" });
  return { ...account({ status: "FROZEN", freezes: [freeze] }), freeze };
}

export function transaction(changes: Partial<Transaction> = {}): Transaction {
  const at = toUnixMillis(Date.UTC(2026, 0, 2, 3, 4, 5, 678));
  return givenTransaction({
    id: TRANSACTION_ID,
    organizationId: ORGANIZATION,
    accountId: ACCOUNT_ID,
    amountCents: 100_000 as Cents,
    reference: "ref-1" as Reference,
    metadata: new Map([["till", "12"]]) as ReadonlyMap<string, string> as Pairs,
    createdAt: at,
    updatedAt: at,
    completedAt: at,
    ...changes,
  });
}

/** What the ledger answers to a movement that it has done. */
export function doneWith(replayed = false): Outcome<Transaction> {
  return { kind: "done", resource: transaction(), replayed };
}

/** A ledger that answers nothing until `open` is called. */
export function gatedLedger(): { readonly submit: Submit; readonly opened: Promise<undefined>; open(): void } {
  const { promise: opened, resolve } = Promise.withResolvers<undefined>();
  const open = (): void => {
    resolve(undefined);
  };
  return { submit: () => opened.then(() => doneWith()), opened, open };
}

/** A deposit that waits. */
export function deposit(changes: Partial<Deposit> = {}): Deposit {
  return givenDeposit({ id: DEPOSIT_ID, organizationId: ORGANIZATION, ...changes });
}

/** The till "rent". */
function destination(changes: Partial<Destination> = {}): Destination {
  return givenDestination({ id: DESTINATION_ID, organizationId: ORGANIZATION, accountId: ACCOUNT_ID, ...changes });
}

/** An organization without endpoints. */
const noWebhooks: CellWebhooks = {
  endpoints: {
    endpoint: () => Promise.resolve(undefined),
    endpoints: () => Promise.resolve([]),
    attempts: () => Promise.resolve({ rows: [], nextBeforeSeq: undefined, lookedAt: 0 }),
    undelivered: () => Promise.resolve({ rows: [], nextBeforeSeq: undefined, lookedAt: 0 }),
    log: () => Promise.resolve(),
  },
  tests: { send: () => Promise.resolve(undefined) },
};

type Resource = Account | Transaction | Destination;
type Submit = (command: Command, deadline: UnixMillis) => Promise<Outcome<Resource>>;

/** A gRPC server on a real socket, whose ledger and database answer from memory. */
export interface ServerUnderTest {
  readonly server: GrpcServer;
  /** Calls with `SECRET`, unless the call says otherwise; without a deadline. */
  readonly grpc: GrpcCaller;
  /** What the ledger was given. */
  readonly submitted: { command: Command; deadline: UnixMillis; bulk: boolean }[];
  /** Every line that was logged. */
  readonly lines: LogLine[];
  /** How often a key was looked up in the database. */
  readonly keyReads: { count: number };
  close(): Promise<void>;
}

export interface ServerUnderTestOptions extends Partial<Omit<GrpcServerOptions, "cellOf" | "limits">> {
  /** Stands in for the ledger; by default every command is done. */
  readonly submit?: Submit;
  /** Replace reads of a database with one account and one transaction. */
  readonly reads?: Partial<Reads>;
  /** Replace reads of the past, none of which the server under test has. */
  readonly history?: Partial<HistoryReads>;
  /** Replace the events of a database with none. */
  readonly eventReads?: EventReads;
  /** Replace the seals of a book that has none. */
  readonly seals?: Partial<SealReads>;
  /** Replace the rails of a cell that has none. */
  readonly rails?: CellRails;
  /** Hears the number of each cell that a handler asks for. */
  readonly cellAsked?: (cell: number) => void;
  readonly scopes?: readonly Scope[];
  /** Changes to the default limits. */
  readonly limits?: Partial<GrpcLimits>;
}

export async function serve({
  submit = doAnything,
  reads,
  history,
  eventReads = new MemoryEvents(),
  rails = new MemoryRails(),
  seals,
  cellAsked = () => undefined,
  scopes,
  limits,
  ...options
}: ServerUnderTestOptions = {}): Promise<ServerUnderTest> {
  const submitted: ServerUnderTest["submitted"] = [];
  const lines: LogLine[] = [];
  const keyReads = { count: 0 };
  const served: ServedCell = {
    ledger: {
      submit: (command, deadline, given) => {
        submitted.push({ command, deadline, bulk: given?.bulk === true });
        return submit(command, deadline) as Promise<Outcome<never>>;
      },
    },
    webhooks: noWebhooks,
    reads: { ...smallReads, ...reads },
    history: { ...noHistory, ...history },
    eventReads,
    follower: new Follower({ reads: eventReads, codec: eventCodec, onError: () => undefined }),
    seals: { ...noSeals, ...seals },
    ...rails,
  };
  const server = await startGrpcServer({
    address: "127.0.0.1:0",
    cellOf: ({ cell }) => {
      cellAsked(cell);
      return served;
    },
    keys: {
      apiKeyWithSecret: async (secret) => {
        keyReads.count += 1;
        return Promise.resolve(secret === SECRET ? apiKey(scopes === undefined ? {} : { scopes }) : undefined);
      },
    },
    restoreWaits: () => Promise.resolve(false),
    ping: async () => Promise.resolve(),
    listsMax: 2,
    phoneCoolingMillis: 3_600_000,
    destinationCoolingMillis: 86_400_000,
    callbackSecrets: () => [],
    sealPublicKeys: () => [],
    now: () => toUnixMillis(Date.now()),
    newAccountId: () => "acc_01jd2r6p5vf8ksw3xhb1z7q400" as AccountId,
    newDepositReferences: () => [],
    newFreezeId: () => "frz_01jd2r6p5vf8ksw3xhb1z7q400" as FreezeId,
    newDestinationId: () => "dst_01jd2r6p5vf8ksw3xhb1z7q400" as DestinationId,
    newTransactionId: () => "txn_01jd2r6p5vf8ksw3xhb1z7q400" as TransactionId,
    newWebhookEndpointId: () => "whe_01jd2r6p5vf8ksw3xhb1z7q400" as WebhookEndpointId,
    webhookHosts: new AllowedHosts([]),
    logger: logInto(lines, "debug"),
    ...options,
    limits: { ...configOf().grpcLimits, ...limits },
  });
  const grpc = new GrpcCaller(server.address, { key: SECRET });
  const close = async (): Promise<void> => {
    grpc.close();
    await server.stop(STOP_MILLIS_MAX);
  };
  return { server, grpc, submitted, lines, keyReads, close };
}

async function doAnything(command: Command): Promise<Outcome<Resource>> {
  if (command.name.includes("Webhook")) {
    const endpointId = "endpointId" in command ? command.endpointId : ("whe_none" as WebhookEndpointId);
    return Promise.resolve({ kind: "refused", refusal: { reason: "WEBHOOK_ENDPOINT_NOT_FOUND", endpointId } });
  }
  return Promise.resolve({ kind: "done", resource: resourceOf(command), replayed: false });
}

function resourceOf({ name }: Command): Resource {
  if (name === "freezeAccount") return frozenAccount();
  if (name === "unfreezeAccount") return { resource: frozenAccount() } as unknown as Resource;
  if (name.endsWith("Destination")) return destination();
  return name.endsWith("Account") ? account() : transaction();
}

export const MINT: MintRequest = {
  account_id: ACCOUNT_ID,
  amount: "1000.50",
  reference: "ref-1",
  description: "",
  metadata: new Map(),
  rail: "",
  payer_phone_number: "",
  receipt: undefined,
};

const none = (): Promise<undefined> => Promise.resolve(undefined);
const noRows = (): Promise<Page<never>> => Promise.resolve({ rows: [], nextBeforeSeq: undefined, lookedAt: 1 });

/** A database that is empty. */
export const emptyReads: Reads = {
  organization: none,
  account: none,
  limits: none,
  accounts: noRows,
  freezes: noRows,
  transaction: none,
  transactions: noRows,
  deposit: none,
  deposits: noRows,
  depositRails: () => Promise.resolve([]),
  destination: none,
  destinations: noRows,
};

/** The row with this id, which is one of the organization. */
function oneOf<Row>(wanted: string, rowOf: () => Row) {
  return (organizationId: OrganizationId, id: string): Promise<Row | undefined> =>
    Promise.resolve(organizationId === ORGANIZATION && id === wanted ? rowOf() : undefined);
}

/** A first page of one row, with others after it. */
function pageOf<Row>(rowOf: () => Row) {
  return () => Promise.resolve({ rows: [rowOf()], nextBeforeSeq: 7, lookedAt: 1 });
}

/** A database with one row of each kind. */
const smallReads: Reads = {
  ...emptyReads,
  organization: (id) =>
    Promise.resolve({
      id,
      cell: 0,
      name: "tests",
      isSandbox: false,
      isSuspended: false,
      areReceiptsRequired: false,
      createdAt: toUnixMillis(0),
    }),
  account: oneOf(ACCOUNT_ID, account),
  accounts: pageOf(account),
  freezes: () => Promise.resolve({ rows: frozenAccount().freezes, nextBeforeSeq: undefined, lookedAt: 1 }),
  transaction: oneOf(TRANSACTION_ID, transaction),
  transactions: pageOf(transaction),
  deposit: oneOf(DEPOSIT_ID, deposit),
  deposits: pageOf(deposit),
  destination: oneOf(DESTINATION_ID, destination),
  destinations: pageOf(destination),
};

/** A book without seals. */
const noSeals: SealReads = {
  book: (organizationId) => Promise.resolve({ number: 1, organizationId }),
  signers: () => Promise.resolve([]),
  seal: none,
  leaves: () => Promise.resolve({ hashes: new Uint8Array(), missingSeq: 1 }),
  tile: none,
  leaf: none,
  rowOf: none,
};

const noPast = (): Promise<never> => Promise.reject(new Error("this server has no past"));

const noHistory: HistoryReads = {
  position: noPast,
  balances: noPast,
  closing: noPast,
  freezes: noPast,
  tier: noPast,
  accountRows: noPast,
  accountLines: noPast,
  journal: noPast,
  waiting: noPast,
  bookLines: noPast,
  sums: noPast,
  currentSums: noPast,
  openPayments: noPast,
  railBalances: noPast,
  reserveHoldings: noPast,
  closedMonth: noPast,
};
