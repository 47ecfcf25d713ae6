import type { Organization } from "../../domain/api-key.js";
import { DIRECT_RAIL } from "../../domain/transaction.js";
import { ListTurns } from "../../grpc/calls/list-turns.js";
import { runForMachine } from "../../grpc/calls/operator-gate.js";
import type { RpcRoute } from "../../grpc/calls/route.js";
import { messageOf } from "../../grpc/errors/status.js";
import { accountHandlers } from "../../grpc/services/account-service.js";
import { depositHandlers } from "../../grpc/services/deposit-service.js";
import { getSupply } from "../../grpc/services/history/supply-rpcs.js";
import { operatorRoutes } from "../../grpc/services/operator-routes.js";
import type { CellOf } from "../../grpc/services/served-cell.js";
import { transactionHandlers } from "../../grpc/services/transaction-service.js";
import { webhookHandlers } from "../../grpc/services/webhooks/service.js";
import type { Administration } from "../../operators/ports.js";
import { NEW_IDS } from "../../parts/new-ids.js";
import { operatorParts } from "../../parts/operator-parts.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { invocation } from "../../startup/invocation.js";
import { UsageError } from "../../startup/operator-error.js";
import { cellOf, type Database } from "../../storage/database.js";
import { reads } from "../../storage/reads.js";
import { historyReads } from "../../storage/statements/history.js";
import { StoredWebhookEndpoints } from "../../storage/webhooks/endpoints.js";
import { machineLedger } from "../commit-as-operator.js";
import type { CarriedCall, Carrier } from "./carrier.js";
import { RefusedCallError } from "./refused-call.js";

/** Whether a change on the database is meant, although there are operators. */
export interface MachineOptions {
  readonly onDatabase?: true | undefined;
  readonly note?: string | undefined;
}

/** Runs calls in this process, on the database. Their author is the machine. */
export class DatabaseCarrier implements Carrier {
  readonly isAtServer = false;
  readonly #administration: Administration;
  readonly #options: MachineOptions;
  readonly #routes: Readonly<Record<string, RpcRoute>>;

  constructor(database: Database, options: MachineOptions) {
    // Nobody needs a second person to use a database that is at hand. The servers know where rails
    // call back: this command need not.
    const config = configFromEnvironment();
    const parts = operatorParts(database, config, { now, fourEyes: new Set(), hasCallbacks: true, isServer: false });
    this.#administration = parts.administration;
    this.#options = options;
    const own = (organization: Pick<Organization, "cell">) => {
      const cell = cellOf(database, organization);
      const webhooks = { endpoints: new StoredWebhookEndpoints(cell) };
      // A command has no rails open, so it warns of no number.
      const railAccounts = { accountsOf: () => [], accountOf: () => undefined, defaultRail: () => DIRECT_RAIL };
      return { railAccounts, ledger: machineLedger(cell), reads: reads(cell), history: historyReads(cell), webhooks };
    };
    const given = {
      // No command needs more of a cell.
      cellOf: own as unknown as CellOf,
      listTurns: new ListTurns({ now, underWayMax: 1 }),
      now,
      ...NEW_IDS,
      phoneCoolingMillis: 0,
      destinationCoolingMillis: 0,
    };
    this.#routes = {
      getSupply: getSupply(given),
      ...accountHandlers(given),
      ...depositHandlers(given),
      ...transactionHandlers(given),
      ...webhookHandlers({ ...given, webhookHosts: config.webhookHosts }),
      ...operatorRoutes({ ...given, ...parts }),
    };
  }

  /** Throws an OperatorError if the change needs an operator, unless the options mean it. */
  async *carry(call: CarriedCall): AsyncGenerator<Uint8Array> {
    const { rpc } = call;
    if (rpc.effect !== "reads") await refuseUnlessMeant(this.#administration, this.#options);
    const route = this.#routes[rpc.localName];
    if (route === undefined) throw new Error(`only a server runs ${rpc.name}`);
    const refusal = yield* runForMachine(route, rpc, call, { administration: this.#administration });
    if (refusal !== undefined) throw new RefusedCallError(messageOf(refusal), { reason: refusal.reason });
    const { note } = this.#options;
    const standsInBook = rpc.operatorsGive.length > 0 || rpc.input.fields.some((field) => field.name === "note");
    if (rpc.effect !== "reads" && note !== undefined && !standsInBook) printNote(note);
  }
}

const AT_A_SERVER =
  "So a change is made at a server, by one of them: name the server with --server or KESC_OPERATOR_SERVER, and give " +
  "your key in KESC_OPERATOR_KEY or KESC_OPERATOR_KEY_FILE.\nIn an emergency, make it on the database with " +
  "--on-database --note TEXT.";

/**
 * Throws an OperatorError if operators exist and --on-database or --note is missing. The rows of
 * the machine name nobody, so a person must have meant it. `instead` is for a change that no server
 * makes.
 */
export async function refuseUnlessMeant(
  administration: Pick<Administration, "operators">,
  { onDatabase, note }: MachineOptions,
  instead = AT_A_SERVER,
): Promise<void> {
  if (onDatabase === true && note !== undefined) return;
  if ((await administration.operators()).length === 0) return;
  throw new UsageError(`This database has operators. ${instead} Then it names no person. Nothing was done.`);
}

/** Prints the note for the records of the shell, because no row has a place for it. */
function printNote(note: string): void {
  invocation().stderr.write(`Done on the database. Note: ${note}\n`);
}
