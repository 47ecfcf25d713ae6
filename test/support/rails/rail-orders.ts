import { randomUUID } from "node:crypto";

import type { FlagReason, RailAccountId } from "../../../src/domain/payment.js";
import type { Rail } from "../../../src/domain/transaction.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { AccountId, OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { Database } from "../../../src/storage/database.js";
import { openDatabaseAt } from "../databases.js";
import { receiptNamed } from "../names.js";
import { createAccount } from "../operations/accounts.js";
import {
  advancePayment,
  beginPayment,
  completePayment,
  failPayment,
  flag,
  mint,
  redeem,
  resolve,
} from "../operations/transactions.js";

/** How far a test's order has come at its rail. */
export interface OrderState {
  readonly name?: "mint" | "redeem";
  readonly amount?: string;
  readonly rail?: string;
  /** The account at the rail, as it was set once. */
  readonly railAccountId?: RailAccountId;
  /** The proof of a completion. */
  readonly proof?: { readonly movement?: string; readonly receipt?: string };
  readonly failed?: true;
  readonly flagged?: true;
  /** The rail was not asked yet. */
  readonly pending?: true;
}

/** Makes orders at a rail in a database, as the service and a settlement would. */
export class RailOrders {
  readonly #database: Database;
  readonly #organizationId: OrganizationId;

  private constructor(database: Database, organizationId: OrganizationId) {
    this.#database = database;
    this.#organizationId = organizationId;
  }

  static async in<Result>(
    url: string,
    organizationId: OrganizationId,
    work: (orders: RailOrders) => Promise<Result>,
  ): Promise<Result> {
    const database = await openDatabaseAt(url);
    try {
      return await work(new RailOrders(database, organizationId));
    } finally {
      await database.close();
    }
  }

  async account(user: string): Promise<AccountId> {
    const command = createAccount(this.#organizationId, user);
    await this.commit(command);
    return command.newAccountId;
  }

  /** Makes a transaction. An order that was neither failed nor proved stays PROCESSING. */
  async order(accountId: AccountId, state: OrderState = {}): Promise<TransactionId> {
    const organizationId = this.#organizationId;
    const { name = "mint", amount = "100.00", rail = "mpesa", railAccountId, proof, failed, flagged, pending } = state;
    const reference = `${name}-${randomUUID()}`;
    const move = name === "mint" ? mint : redeem;
    const terms = railAccountId === undefined ? {} : { railAccountId };
    const command = move({ organizationId, accountId, amount, reference, rail: rail as Rail, terms });
    const id = command.newTransactionId;
    if (pending === true) {
      await this.commit(command);
      return id;
    }
    // In one batch: a server of the same database would take the payment in between.
    const begun = beginPayment(organizationId, id, railAccountId === undefined ? 0 : 1);
    await this.commit(command, begun);
    // The rail has a flagged order: no request is on its way.
    if (flagged === true)
      await this.commit(advancePayment("acceptPayment", organizationId, id), flag(organizationId, id));
    if (failed === true) await this.commit(failPayment(organizationId, id));
    if (proof !== undefined) await this.commit(completePayment(organizationId, id, proof));
    return id;
  }

  async flag(id: TransactionId, reason: FlagReason): Promise<void> {
    await this.commit(flag(this.#organizationId, id, reason));
  }

  /** Ends a flagged order as two persons do, who have found out that less has moved. */
  async moved(id: TransactionId, { receipt, amountCents }: { receipt: string; amountCents: number }): Promise<void> {
    const resolution = { kind: "MOVED", receipt: receiptNamed(receipt), amountCents: toCents(amountCents) } as const;
    for (const person of ["njeri", "otieno"]) {
      await this.commit(resolve(this.#organizationId, id, resolution, { person }));
    }
  }

  async commit(...commands: Parameters<Database["cells"][0]["committer"]["commit"]>[0]): Promise<void> {
    const results = await this.#database.cells[0].committer.commit(commands, toUnixMillis(Date.now()));
    for (const [index, result] of results.entries()) {
      if (result.kind !== "done") throw new Error(`${commands[index]?.name ?? ""}: ${JSON.stringify(result)}`);
    }
  }
}
