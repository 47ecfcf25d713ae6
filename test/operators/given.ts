import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";

import { pino } from "pino";

import { type Operator, parseOperatorName, type Role } from "../../src/domain/operator.js";
import { DIRECT_RAIL } from "../../src/domain/transaction.js";
import { toUnixMillis, type UnixMillis } from "../../src/domain/values/time.js";
import { AdminServiceService as Rpcs } from "../../src/gen/kesc/admin/v1/admin_service.js";
import type { Proposal } from "../../src/gen/kesc/admin/v1/resources.js";
import { AccountServiceService as Accounts } from "../../src/gen/kesc/v1/account_service.js";
import { BookServiceService as Books } from "../../src/gen/kesc/v1/book_service.js";
import { DepositServiceService as Deposits } from "../../src/gen/kesc/v1/deposit_service.js";
import { TransactionServiceService as Transactions } from "../../src/gen/kesc/v1/transaction_service.js";
import { ListTurns } from "../../src/grpc/calls/list-turns.js";
import { type MachineCall, runForMachine } from "../../src/grpc/calls/operator-gate.js";
import type { EncodedMessages } from "../../src/grpc/calls/route.js";
import type { RpcContract } from "../../src/grpc/messages/contract.js";
import type { HandlersOptions } from "../../src/grpc/services/operator-options.js";
import { operatorRoutes } from "../../src/grpc/services/operator-routes.js";
import type { FourEyes } from "../../src/operators/four-eyes.js";
import { newTransactionId } from "../../src/parts/new-ids.js";
import { operatorParts } from "../../src/parts/operator-parts.js";
import { type RunningServer, startServer } from "../../src/server.js";
import { now as clock } from "../../src/startup/clock.js";
import { keys } from "../../src/storage/keys.js";
import { StoredAdministration } from "../../src/storage/operators/administration.js";
import { reads } from "../../src/storage/reads.js";
import { historyReads } from "../../src/storage/statements/history.js";
import { CERTIFICATE_FILE } from "../daraja/given.js";
import { GrpcCaller, type GrpcReply, type Method } from "../support/callers/grpc-caller.js";
import { configOf } from "../support/config.js";
import { type ENGINES, openTestDatabase, type TestDatabase } from "../support/databases.js";
import { findingsIn } from "../support/findings.js";
import { NO_SEAL_KEY_FILE } from "../support/master-key.js";
import { actOn } from "../support/people.js";
import { makeTenant, type Tenant } from "../support/service/tenants.js";

/** Stands in each secret of the account below, so a test can look for it. */
export const SECRET = "x-very-secret-x";

/** An account at M-Pesa that a server accepts. Nothing calls it. */
export const MPESA_SETTINGS = {
  collectShortcode: "174379",
  payOutShortcode: "600992",
  initiatorName: "testapi",
  environment: "production",
  certificatePem: readFileSync(CERTIFICATE_FILE, "utf8"),
};
export const MPESA_CREDENTIALS = Object.fromEntries(
  ["consumerKey", "consumerSecret", "passkey", "initiatorPassword"].map((name) => [name, `${SECRET}${name}`]),
);

/** An operator with the key, which no part of the service ever has. */
export interface GivenOperator {
  readonly operator: Operator;
  readonly key: string;
}

/** Two servers with an address for operators, on one database. */
export interface OperatorService {
  readonly opened: TestDatabase;
  readonly servers: readonly [RunningServer, RunningServer];
  /** Call the AdminService of each server, with no key unless the call has one. */
  readonly admin: readonly [GrpcCaller, GrpcCaller];
  /** Calls the public address of the first server. */
  readonly publicly: GrpcCaller;
  readonly tenant: Tenant;
  readonly stored: StoredAdministration;
  /** The lines of the log. */
  readonly lines: string[];
  /** Makes an operator as the command on the database does. */
  operator(name: string, ...roles: Role[]): Promise<GivenOperator>;
  /** Stops everything. Rejects if the books do not hold. */
  dispose(): Promise<void>;
}

/** The page with all proposals, and more. */
export const ALL_PROPOSALS = { afterId: undefined, size: 1_001, waits: undefined };
/** The process of a command has no rails open. */
const NO_RAILS = {
  account: () => undefined,
  accountOf: () => undefined,
  accountsOf: () => [],
  defaultRail: () => DIRECT_RAIL,
};
/** No policy: the machine acts. */
const ALONE: FourEyes = new Set();
/** The largest file of payouts takes two seconds, and more beside other tests. */
const CALL_MILLIS_MAX = 30_000;

export function newKey(): { readonly key: string; readonly sha256: string } {
  const key = `kesc_op_${randomBytes(32).toString("base64url")}`;
  return { key, sha256: createHash("sha256").update(key).digest("hex") };
}

export async function startOperatorService(
  engine: (typeof ENGINES)[number],
  {
    now = () => toUnixMillis(Date.now()),
    environment = {},
  }: { now?: () => UnixMillis; environment?: Readonly<Record<string, string>> } = {},
): Promise<OperatorService> {
  const opened = await openTestDatabase(engine);
  const { database } = opened;
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(line) });
  const config = configOf({
    KESC_GRPC_ADDRESS: "127.0.0.1:0",
    KESC_OPERATOR_ADDRESS: "127.0.0.1:0",
    KESC_SEAL_KEY_FILE: NO_SEAL_KEY_FILE,
    ...environment,
  });
  const start = (): Promise<RunningServer> => startServer(config, { database, logger, now });
  const servers = [await start(), await start()] as const;
  const admin = servers.map(({ operatorAddress = "" }) => {
    return new GrpcCaller(operatorAddress, { deadlineMillis: CALL_MILLIS_MAX });
  }) as unknown as readonly [GrpcCaller, GrpcCaller];
  const publicly = new GrpcCaller(servers[0].address, { deadlineMillis: CALL_MILLIS_MAX });
  const stored = new StoredAdministration(database, { now, fourEyes: ALONE });
  return {
    opened,
    servers,
    admin,
    publicly,
    tenant: await makeTenant(keys(database, now), "Tenant"),
    stored,
    lines,
    operator: (name, ...roles) => makeOperator(stored, name, roles),
    async dispose() {
      for (const caller of [...admin, publicly]) caller.close();
      await Promise.all(servers.map((server) => server.stop()));
      const masterKeys = opened.cell.masterKeys;
      const cells = database.cells.map(({ engine: own, reader }) => ({ engine: own, reader, masterKeys }));
      const firstFindings = await findingsIn({ cells });
      await opened.dispose();
      if (firstFindings.length > 0) throw new Error(JSON.stringify(firstFindings));
    },
  };
}

/** The AdminService in the process of the command, where no policy asks for a second person. */
export interface Machine {
  readonly routes: ReturnType<typeof operatorRoutes>;
  call(rpc: RpcContract, call: MachineCall): EncodedMessages;
}

export function machineOf(
  { database, cell }: Pick<TestDatabase, "database" | "cell">,
  ledger: ReturnType<HandlersOptions["cellOf"]>["ledger"],
): Machine {
  const options = {
    ...operatorParts(database, configOf(), { now: clock, fourEyes: ALONE, hasCallbacks: true, isServer: true }),
    now: clock,
    listTurns: new ListTurns({ now: clock, underWayMax: 1 }),
    cellOf: () => ({ ledger, reads: reads(cell), history: historyReads(cell), railAccounts: NO_RAILS }),
    newTransactionId,
    phoneCoolingMillis: 0,
  };
  const routes = operatorRoutes(options);
  return {
    routes,
    call: (rpc, call) => {
      const route = routes[rpc.localName];
      if (route === undefined) throw new Error(`no route ${rpc.localName}`);
      return runForMachine(route, rpc, call, options);
    },
  };
}

export async function makeOperator(
  stored: StoredAdministration,
  text: string,
  roles: readonly Role[],
): Promise<GivenOperator> {
  const name = parseOperatorName(text);
  if (!name.ok) throw new Error(name.problem);
  const { key, sha256: keySha256 } = newKey();
  const made = await actOn(stored, { name: "createOperator", operatorName: name.value, roles, keySha256 });
  const operator = made.kind === "done" ? made.resource.resource : undefined;
  if (operator === undefined) throw new Error(JSON.stringify(made));
  return { operator, key };
}

/** The rpcs that operators call, of organizations and of their own. */
export const OPERATOR_RPCS = { ...Accounts, ...Books, ...Deposits, ...Transactions, ...Rpcs } as const;

type Fields = Readonly<Record<string, unknown>>;

/** Calls as an operator. */
export function actAs<Response extends object>(
  admin: GrpcCaller,
  rpc: keyof typeof OPERATOR_RPCS,
  fields: Fields,
  { by, key }: { readonly by: GivenOperator; readonly key?: string | undefined },
): Promise<GrpcReply<Response | undefined>> {
  const method = OPERATOR_RPCS[rpc] as unknown as Method<Fields, Response>;
  return admin.call(method, fields, {
    key: by.key,
    metadata: key === undefined ? {} : { "idempotency-key": key },
  });
}

/** Reads a list to its end, page by page. */
export async function pagesOf<Page extends { readonly next_page_token?: string | undefined }>(
  read: (page_token: string) => Promise<GrpcReply<Page | undefined>>,
): Promise<readonly Page[]> {
  const pages: Page[] = [];
  for (let token: string | undefined = ""; token !== undefined; token = pages.at(-1)?.next_page_token) {
    const { response, message } = await read(token);
    if (response === undefined) throw new Error(message);
    pages.push(response);
  }
  return pages;
}

/** Returns a message as text, to look for something in it. */
export function textOf(message: unknown): string {
  return JSON.stringify(message, (_name, value: unknown) => (typeof value === "bigint" ? String(value) : value));
}

/** Reads a proposal. */
export async function proposalOf(
  admin: GrpcCaller,
  proposal_id: string | undefined,
  { key }: Pick<GivenOperator, "key">,
): Promise<Proposal | undefined> {
  const { response } = await admin.call(Rpcs.getProposal, { proposal_id: proposal_id ?? "" }, { key });
  return response?.proposal;
}

/** What is left when a proposal of the caller is approved by another person. */
export async function approved(
  admin: GrpcCaller,
  proposal_id: string | undefined,
  { key }: Pick<GivenOperator, "key">,
): Promise<string | undefined> {
  const reply = await admin.call(Rpcs.approveProposal, { proposal_id: proposal_id ?? "" }, { key });
  return reply.code === 0 ? undefined : reply.reason;
}
