import type { ReceiveDeposit } from "../../../src/domain/deposits/receive-deposit.js";
import type { Command, ResourceOf } from "../../../src/domain/operations.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { openDatabaseAt } from "../databases.js";
import { receiveDeposit } from "../operations/deposits.js";
import type { Service } from "./service.js";

/** Commits commands in the database of a running service, as another server would. */
export async function commitBeside<C extends Command>(
  { databaseUrl }: Pick<Service, "databaseUrl">,
  commands: readonly C[],
): Promise<ResourceOf<C>[]> {
  const database = await openDatabaseAt(databaseUrl);
  try {
    const [cell] = database.cells;
    const results = await cell.committer.commit(commands, toUnixMillis(Date.now()));
    return results.map((result) => {
      if (result.kind !== "done") throw new Error(JSON.stringify(result));
      return result.resource as ResourceOf<C>;
    });
  } finally {
    await database.close();
  }
}

/** Lets the settlement find shillings in the list of a rail. Returns the ids of their deposits. */
export async function receiveDeposits(
  service: Pick<Service, "databaseUrl" | "a">,
  ...given: readonly (Parameters<typeof receiveDeposit>[1] & { receipt: string })[]
): Promise<string[]> {
  const { organizationId } = service.a;
  const received = await commitBeside<ReceiveDeposit>(
    service,
    given.map((each) => receiveDeposit(organizationId, each)),
  );
  return received.map(({ deposit }) => deposit?.id ?? "");
}
