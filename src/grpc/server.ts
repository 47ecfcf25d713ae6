import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { MessagePort } from "node:worker_threads";

import {
  type Metadata,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  status as Status,
  type UntypedHandleCall,
} from "@grpc/grpc-js";
import type { Logger } from "pino";

import { FairShare } from "../../runtime/fair-share.js";
import type { Tracing } from "../../runtime/tracing/tracing.js";
import type { WatchedTls } from "../../runtime/transport/watched-tls.js";
import type { DepositReference } from "../domain/values/deposit-reference.js";
import type { AccountId, DestinationId, FreezeId, TransactionId, WebhookEndpointId } from "../domain/values/ids.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { Keys } from "../ledger/ports/keys.js";
import type { AllowedHosts } from "../webhooks/allowed.js";
import { ApiKeyAuthenticator } from "./calls/authenticator.js";
import { callSteps, type ServingDependencies } from "./calls/call-context.js";
import { CallGuard } from "./calls/call-guard.js";
import type { CallMeter } from "./calls/call-meter.js";
import { CallRates } from "./calls/call-rates.js";
import { keyGate } from "./calls/key-gate.js";
import { ListTurns } from "./calls/list-turns.js";
import type { RpcRoute } from "./calls/route.js";
import type { Reason } from "./errors/refusal.js";
import { statusCodeOf } from "./errors/status.js";
import { logLibraryTo } from "./library-log.js";
import { type GrpcLimits, serverOptionsOf } from "./limits.js";
import { readContract, type RpcContract, type ServedContract, type ServiceContract } from "./messages/contract.js";
import { accountHandlers } from "./services/account-service.js";
import { bookHandlers } from "./services/book-service.js";
import { depositHandlers } from "./services/deposit-service.js";
import { eventHandlers } from "./services/events/event-service.js";
import { organizationHandlers } from "./services/organization-service.js";
import { railHandlers } from "./services/rail-service.js";
import { sandboxHandlers } from "./services/sandbox-service.js";
import type { SealPublicKeysOf } from "./services/seal-rpcs.js";
import type { CellOf } from "./services/served-cell.js";
import { transactionHandlers } from "./services/transaction-service.js";
import { webhookHandlers } from "./services/webhooks/service.js";
import { Health, HEALTH_SERVICE } from "./standard/health.js";
import { Reflection } from "./standard/reflection-index.js";
import { REFLECTION_SERVICES, ReflectionService } from "./standard/reflection-service.js";
import { Listener } from "./transport/listener.js";
import { takeCallsFrom } from "./transport/port-calls.js";
import { RequestGuard } from "./transport/request-guard.js";

/** The services that need no key. */
const OPEN_SERVICES = [HEALTH_SERVICE, ...REFLECTION_SERVICES];

export interface GrpcServerOptions {
  /** "127.0.0.1:50051", "[::]:0" for any free port, or "unix:/run/kesc.sock". */
  readonly address: string;
  readonly cellOf: CellOf;
  readonly keys: Pick<Keys, "apiKeyWithSecret">;
  /** Whether the database was restored, and no person has confirmed that yet. */
  readonly restoreWaits: () => Promise<boolean>;
  /** Resolves if the database responds. Called once a second to update the health status. */
  readonly ping: () => Promise<unknown>;
  readonly now: () => UnixMillis;
  readonly newAccountId: () => AccountId;
  readonly newDepositReferences: () => readonly DepositReference[];
  readonly newFreezeId: () => FreezeId;
  readonly newDestinationId: () => DestinationId;
  readonly newTransactionId: () => TransactionId;
  readonly newWebhookEndpointId: () => WebhookEndpointId;
  /** The hosts to which the operator allows webhooks, whatever their addresses. */
  readonly webhookHosts: AllowedHosts;
  /** Nothing is paid out to a phone number that was changed less than this time ago. */
  readonly phoneCoolingMillis: number;
  /** Nothing is paid out to a destination that was made less than this time ago. */
  readonly destinationCoolingMillis: number;
  /** The secrets of the tokens in callback addresses: during a rotation the new and the old one. */
  readonly callbackSecrets: () => readonly Buffer[];
  /** The public keys that may have signed seals, newest first. */
  readonly sealPublicKeys: SealPublicKeysOf;
  readonly logger: Logger;
  readonly limits: GrpcLimits;
  /** The clock of the rates, in milliseconds. Only tests have one of their own. */
  readonly rateClock?: () => number;
  /** The number of lists that the database should run at once. */
  readonly listsMax: number;
  /** Undefined: without TLS. A Unix socket never has TLS. */
  readonly tls?: Pick<WatchedTls, "material" | "onChange"> | undefined;
  /** Undefined: the metrics are off. */
  readonly meter?: CallMeter | undefined;
  /** Undefined: no call is recorded. */
  readonly tracing?: Pick<Tracing, "begin"> | undefined;
}

export interface Serving {
  /** The address that the server listens on, with the bound port. */
  readonly address: string;
  /** Whether the health check reports SERVING. */
  isServing(): boolean;
  /**
   * Takes the calls of another thread of this process as if a connection from `peer` brought them
   * (docs/adr/0073).
   */
  readonly takeCalls: (port: MessagePort, peer: string) => void;
  /**
   * Refuses new calls and finishes the calls in flight. Resolves once the last connection has
   * closed. After `graceMillis` it closes the remaining connections, and rejects if calls were
   * still in flight on them.
   *
   * The ledger must stay open until then.
   */
  stop(graceMillis: number): Promise<void>;
}

export interface GrpcServer extends Serving {
  /** The turns of all lists, which those of operators take, too. */
  readonly listTurns: ListTurns;
  /** The lists that wait for their turn. */
  listsWaiting(): number;
}

/** What a listener serves, and to whom. */
export interface Surface {
  readonly contract: ServedContract;
  /** Returns the organization of a caller who is known. */
  readonly organizationOf: (metadata: Metadata) => string | undefined;
  /** Makes the handler of an rpc. Undefined if there is none. */
  readonly handlerOf: (
    service: ServiceContract,
    rpc: RpcContract,
    dependencies: ServingDependencies,
  ) => UntypedHandleCall | undefined;
}

/** How a listener serves. */
export type ServingOptions = Pick<
  GrpcServerOptions,
  "address" | "ping" | "now" | "logger" | "limits" | "tls" | "meter" | "tracing"
>;

/** Serves organizations. Rejects as `serve` does. */
export async function startGrpcServer(options: GrpcServerOptions): Promise<GrpcServer> {
  const authenticator = new ApiKeyAuthenticator(options);
  const listTurns = new ListTurns({ now: options.now, underWayMax: options.listsMax });
  const routes = routesOf(options, listTurns);
  const gate = keyGate({
    authenticate: authenticator.authenticate.bind(authenticator),
    rates: new CallRates(options.limits, options.rateClock),
  });
  const surface: Surface = {
    contract: readContract(),
    organizationOf: (metadata) => authenticator.organizationOf(metadata),
    handlerOf: ({ name }, rpc, dependencies) =>
      routes[name]?.[rpc.localName]?.(rpc, { ...dependencies, gate }) as UntypedHandleCall | undefined,
  };
  return { ...(await serve(surface, options)), listTurns, listsWaiting: () => listTurns.waiting };
}

/** Starts serving. Rejects if the address cannot be bound, or if an rpc has no handler. */
export async function serve(surface: Surface, options: ServingOptions): Promise<Serving> {
  const { logger, limits } = options;
  const { contract } = surface;
  const serviceNames = contract.services.map(({ name }) => name);
  logLibraryTo(logger);

  const requests = requestGuardOf(contract, options);
  const guard = callGuardOf(surface, options);
  const server = new Server({ ...serverOptionsOf(limits), interceptors: [requests.interceptor, guard.interceptor] });
  requests.attachTo(server);

  const calls = { inFlight: 0, stopping: false };
  const stopListeners = new Set<() => void>();
  addServices(server, surface, {
    now: options.now,
    isStopping: () => calls.stopping,
    callMillisMax: limits.callMillisMax,
    logger,
    onStopping: (stop) => {
      stopListeners.add(stop);
      return () => stopListeners.delete(stop);
    },
    onConnectionClosing: requests.onConnectionClosing.bind(requests),
    onInFlight: (change) => {
      calls.inFlight += change;
    },
    steps: callSteps(),
    meter: options.meter,
    tracing: options.tracing,
  });
  const health = new Health({ serviceNames, ping: options.ping, logger });
  health.addTo(server);
  const reflection = new ReflectionService(new Reflection(contract.descriptorSet, [...serviceNames, ...OPEN_SERVICES]));
  reflection.addTo(server);

  // The listener ends TLS itself, so grpc-js sees all connections as plaintext.
  const connections = server.createConnectionInjector(ServerCredentials.createInsecure());
  const onConnection = (socket: Socket): void => {
    connections.injectConnection(socket);
  };
  const opening = Listener.open(options.address, { tls: options.tls, onConnection });
  const { listener, address } = await opening.catch((error: unknown) => {
    requests.stop();
    throw error;
  });
  await health.start();

  return {
    address,
    isServing: () => health.isServing,
    takeCalls: (port, peer) => {
      takeCallsFrom(port, peer, requests.take.bind(requests));
    },
    stop: async (graceMillis) => {
      const lameDuckMillis = Math.min(limits.lameDuckMillis, graceMillis / 2);
      health.stop();
      await sleep(lameDuckMillis);
      calls.stopping = true;
      health.endWatches();
      reflection.endStreams();
      for (const stop of stopListeners) stop();
      listener.stopAccepting();
      // Sends GOAWAY to every client. After the grace period it closes the remaining connections.
      connections.drain(graceMillis - lameDuckMillis);
      requests.refuseArriving();
      await Promise.race([requests.idle(), sleep(graceMillis - lameDuckMillis, undefined, { ref: false })]);
      await listener.closeConnections();
      server.forceShutdown();
      requests.stop();
      if (calls.inFlight > 0) throw new Error(`${String(calls.inFlight)} calls in flight were cut off`);
    },
  };
}

function requestGuardOf({ services }: ServedContract, { limits, logger, meter }: ServingOptions): RequestGuard {
  const rpcs = services.flatMap((service) => service.rpcs);
  const bulkPaths = new Set(rpcs.filter(({ bulk }) => bulk).map(({ path }) => path));
  const streamingPaths = new Set(rpcs.filter(({ streams }) => streams !== "none").map(({ path }) => path));
  const writingPaths = new Set(
    rpcs.filter(({ idempotencyKey }) => idempotencyKey !== "ignored").map(({ path }) => path),
  );
  return new RequestGuard({
    requestMillisMax: limits.requestMillisMax,
    requestBytesMaxOf: (path) => (bulkPaths.has(path) ? limits.bulkBytesMax : limits.requestBytesMax),
    streams: (path) => streamingPaths.has(path),
    writes: (path) => writingPaths.has(path),
    onRefused: noteRefused(logger, meter),
  });
}

function callGuardOf(
  { contract: { services }, organizationOf }: Surface,
  { limits, logger, meter }: ServingOptions,
): CallGuard {
  const rpcs = services.flatMap((service) => service.rpcs);
  const publicPaths = new Set(rpcs.filter(({ isPublic }) => isPublic).map(({ path }) => path));
  return new CallGuard({
    organizationOf,
    calls: new FairShare(limits.callsMax),
    newCalls: new FairShare(Math.ceil(limits.callsMax / 2)),
    isOpen: (path) => OPEN_SERVICES.some((service) => path.startsWith(`/${service}/`)),
    openCalls: new FairShare(limits.openCallsMax),
    isPublic: (path) => publicPaths.has(path),
    publicCalls: new FairShare(limits.publicCallsMax),
    onRefused: noteRefused(logger, meter),
  });
}

/** The path is undefined if no rpc has it: the log holds no text of the caller. */
function noteRefused(logger: Logger, meter?: CallMeter): (path: string | undefined, reason: Reason) => void {
  return (path, reason) => {
    meter?.refused(reason);
    const method = path?.split(".").at(-1);
    logger.info(
      { method, code: Status[statusCodeOf(reason)], reason },
      "the server ended a call before its handler ran",
    );
  };
}

type Routes = Readonly<Record<string, Readonly<Record<string, RpcRoute>>>>;

/** Returns the handlers of all services of organizations. */
export function routesOf(options: Omit<GrpcServerOptions, "keys">, listTurns: ListTurns): Routes {
  return {
    "kesc.v1.AccountService": accountHandlers({ ...options, listTurns }),
    "kesc.v1.BookService": bookHandlers({ ...options, listTurns }),
    "kesc.v1.DepositService": depositHandlers({ ...options, listTurns }),
    "kesc.v1.EventService": eventHandlers({ ...options, listTurns }),
    "kesc.v1.TransactionService": transactionHandlers({ ...options, listTurns }),
    "kesc.v1.OrganizationService": organizationHandlers(options),
    "kesc.v1.RailService": railHandlers(options),
    "kesc.v1.SandboxService": sandboxHandlers(options),
    "kesc.v1.WebhookService": webhookHandlers({ ...options, listTurns }),
  };
}

function addServices(server: Server, { contract, handlerOf }: Surface, dependencies: ServingDependencies): void {
  for (const service of contract.services) {
    const handlers = service.rpcs.map((rpc) => {
      const handler = handlerOf(service, rpc, dependencies);
      if (handler === undefined) throw new Error(`${rpc.path} has no handler`);
      return [rpc.localName, handler] as const;
    });
    server.addService(definitionOf(service), Object.fromEntries(handlers));
  }
}

/**
 * Passes the bytes through. The handlers decode and encode them, so that they can refuse malformed
 * requests.
 */
function definitionOf(service: ServiceContract): ServiceDefinition {
  const bytes = (value: Buffer): Buffer => value;
  const definitions = service.rpcs.map(({ localName, path, streams }) => [
    localName,
    {
      path,
      requestStream: streams === "both" || streams === "client",
      responseStream: streams !== "none",
      requestSerialize: bytes,
      requestDeserialize: bytes,
      responseSerialize: bytes,
      responseDeserialize: bytes,
    },
  ]);
  return Object.fromEntries(definitions) as ServiceDefinition;
}
