import { existsSync } from "node:fs";

import type { UnixMillis } from "../domain/values/time.js";
import { FileReading } from "../grpc/services/files/file-reading.js";
import type { HandlersOptions } from "../grpc/services/operator-options.js";
import type { FourEyes } from "../operators/four-eyes.js";
import { PasskeyChecks } from "../operators/passkeys.js";
import { SignIn } from "../operators/sign-in.js";
import { readSealKeys } from "../seals/key-file.js";
import { readCallbackSecrets } from "../startup/callbacks.js";
import type { Config } from "../startup/config.js";
import { version } from "../startup/version.js";
import { cellOf, type Database } from "../storage/database.js";
import { StoredAdministration } from "../storage/operators/administration.js";
import { bookReads } from "../storage/operators/book-reads.js";
import { StoredSignIn } from "../storage/operators/sign-in.js";
import { bankPayments } from "../storage/payouts/bank-payments.js";
import { payoutFiles } from "../storage/payouts/payout-files.js";
import { payoutLists } from "../storage/payouts/payout-lists.js";
import { bookedMovements } from "../storage/rails/booked-movements.js";
import { sealReads } from "../storage/seals/seal-store.js";
import { payoutCheckParts } from "./checks.js";
import { depositRegistration } from "./deposit-registration.js";
import { railChanges } from "./rail-changes.js";
import { railProbes } from "./rail-probes.js";
import { railReads } from "./rail-reads.js";

interface OperatorPartsOptions {
  readonly now: () => UnixMillis;
  readonly fourEyes: FourEyes;
  /** Whether the servers have an address for callbacks. */
  readonly hasCallbacks: boolean;
  /** Whether the parts are a server's, which rails call back. */
  readonly isServer: boolean;
}

/** What the rpcs of operators need of a database. */
export type OperatorParts = Omit<
  HandlersOptions,
  "cellOf" | "listTurns" | "now" | "newTransactionId" | "phoneCoolingMillis"
>;

export type OperatorConfig = Pick<Config, "callbacks" | "railHosts" | "consoleOrigin" | "seals" | "webhookHosts">;

/** Makes the parts for a server, or for a command. */
export function operatorParts(
  database: Database,
  { callbacks, railHosts: hosts, consoleOrigin, seals, webhookHosts }: OperatorConfig,
  { now, fourEyes, hasCallbacks, isServer }: OperatorPartsOptions,
): OperatorParts {
  const administration = new StoredAdministration(database, { now, fourEyes });
  const callbacksNow = () => callbacks && { settings: callbacks, secrets: readCallbackSecrets(callbacks) };
  const store = new StoredSignIn(database.cells[0], administration.people, now);
  return {
    kescVersion: version(),
    administration,
    seals: {
      origin: seals.origin,
      keys: () => (existsSync(seals.keyFile) ? readSealKeys(seals.keyFile) : undefined),
      reads: (organization) => sealReads(cellOf(database, organization)),
    },
    signIn: new SignIn({ store, operators: administration, passkeys: new PasskeyChecks(consoleOrigin), now }),
    fileReading: new FileReading(),
    bookReads: bookReads(database),
    payoutChecks: payoutCheckParts(database, { allowed: webhookHosts, now }),
    payoutFiles: payoutFiles(database),
    payoutLists: payoutLists(database),
    bankPayments: bankPayments(database),
    bookedMovements: (organization, rail) => {
      const { engine, directory, listReader: reader } = cellOf(database, organization);
      return bookedMovements({ engine, directory, reader }, { organizationId: organization.id, rail });
    },
    railReads: railReads(database, { now, hosts, hasCallbacks }),
    railChanges: railChanges(database, { callbacks: callbacksNow, isServer, hosts, now }),
    railProbes: railProbes(database, { callbacks: callbacksNow, hosts, now }),
    depositRegistration: depositRegistration(database, { callbacks: callbacksNow, hosts, now }),
  };
}
