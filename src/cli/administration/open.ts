import type { Command } from "commander";

import { readSecret } from "../../../runtime/files/secret-file.js";
import { clientExposure } from "../../../runtime/transport/exposure.js";
import { isOperatorKey } from "../../operators/operator.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { invocation } from "../../startup/invocation.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import { StoredAdministration } from "../../storage/operators/administration.js";
import type { AdministrationClient } from "./client.js";
import { DatabaseClient } from "./database-client.js";

const WRONG_USAGE = 2;

/** Where a command works. */
export interface ServerOptions {
  readonly server?: string | undefined;
}

/** Adds the option that lets a command work at a server. */
export function withServerOption(command: Command): Command {
  return command.option(
    "--server <address>",
    "AdminService that does it, with the key in KESC_OPERATOR_KEY (default: KESC_OPERATOR_SERVER, or the database)",
  );
}

/**
 * Runs `work` at the server that the options or the environment name, or in the database. Throws an
 * OperatorError if neither can be used.
 */
export async function withAdministration<Result>(
  { server }: ServerOptions,
  work: (administration: AdministrationClient) => Promise<Result>,
): Promise<Result> {
  const config = configFromEnvironment();
  const address = server ?? config.operatorServer;
  if (address === undefined) {
    return withCurrentDatabase(config.database, (database) =>
      // Nobody needs a second person to use a database that is at hand.
      work(new DatabaseClient(new StoredAdministration(database, { now, fourEyes: new Set() }))),
    );
  }
  const name = server === undefined ? "KESC_OPERATOR_SERVER" : "--server";
  const exposure = clientExposure(name, address, { clientTls: config.clientTls, isInsecure: false });
  if (exposure !== undefined) throw new OperatorError(exposure, WRONG_USAGE);
  // In the database nothing needs gRPC, which takes a third of the time to start.
  const [{ usableCredentials }, { connectTo }, { RemoteClient }] = await Promise.all([
    import("../../startup/tls.js"),
    import("../import/import-stream.js"),
    import("./remote-client.js"),
  ]);
  const channel = connectTo(address, usableCredentials(address, config.clientTls));
  try {
    return await work(new RemoteClient(channel, { address, key: operatorKey() }));
  } finally {
    channel.close();
  }
}

/** The messages do not repeat the text, which may be a key with a typing error. */
function operatorKey(): string {
  const key = readSecret(invocation().env, "KESC_OPERATOR_KEY");
  if (!key.ok) throw new OperatorError(key.problem, WRONG_USAGE);
  const text = key.value?.trim() ?? "";
  if (isOperatorKey(text)) return text;
  throw new OperatorError(
    text === ""
      ? "KESC_OPERATOR_KEY is not set. Set it to your key, or KESC_OPERATOR_KEY_FILE to a file that holds it."
      : 'KESC_OPERATOR_KEY is not the key of an operator. Such a key begins with "kesc_op_".',
    WRONG_USAGE,
  );
}
