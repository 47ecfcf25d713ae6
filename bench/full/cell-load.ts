import { typeidUnboxed } from "typeid-js";

import type { CreateAccount } from "../../src/domain/accounts/create-account.js";
import type { MoveMoney } from "../../src/domain/money/move-money.js";
import { DIRECT_RAIL } from "../../src/domain/transaction.js";
import { OPERATOR } from "../../src/domain/values/actor.js";
import { toCents } from "../../src/domain/values/cents.js";
import { NO_EMAIL } from "../../src/domain/values/email-address.js";
import type { AccountId, OrganizationId, TransactionId } from "../../src/domain/values/ids.js";
import type { PhoneNumber } from "../../src/domain/values/phone-number.js";
import type { Description, Metadata, Reference, UserId } from "../../src/domain/values/text.js";
import { now } from "../../src/startup/clock.js";
import type { Cell } from "../../src/storage/database.js";

/** The mints of one commit. */
export const BATCH = 256;
const ACCOUNTS = 100;

/** A committer with commands for it: the loop of a server without its calls. */
export class CellLoad {
  readonly #cell: Cell;
  readonly #organizationId: OrganizationId;
  readonly #accountIds: readonly AccountId[];
  #serial = 0;

  private constructor(cell: Cell, organizationId: OrganizationId, accountIds: readonly AccountId[]) {
    this.#cell = cell;
    this.#organizationId = organizationId;
    this.#accountIds = accountIds;
  }

  static async open(cell: Cell, organizationId: OrganizationId): Promise<CellLoad> {
    const commands = Array.from({ length: ACCOUNTS }, (_, index): CreateAccount => ({
      name: "createAccount",
      organizationId,
      actor: OPERATOR,
      newAccountId: typeidUnboxed("acc") as string as AccountId,
      userId: `user-${String(index)}` as UserId,
      phoneNumber: "+254712345678" as PhoneNumber,
      email: NO_EMAIL,
      depositReferences: [],
      idempotencyKey: undefined,
    }));
    await cell.committer.commit(commands, now());
    return new CellLoad(
      cell,
      organizationId,
      commands.map(({ newAccountId }) => newAccountId),
    );
  }

  async mint(batches: number): Promise<void> {
    for (let done = 0; done < batches; done++) {
      const results = await this.#cell.committer.commit(
        Array.from({ length: BATCH }, () => this.#next()),
        now(),
      );
      const wrong = results.find(({ kind }) => kind !== "done");
      if (wrong !== undefined) throw new Error(`a mint was ${wrong.kind}`, { cause: wrong });
    }
  }

  #next(): MoveMoney {
    this.#serial += 1;
    return {
      name: "mint",
      organizationId: this.#organizationId,
      actor: OPERATOR,
      newTransactionId: typeidUnboxed("txn") as string as TransactionId,
      accountId: this.#accountIds[this.#serial % ACCOUNTS] as AccountId,
      amountCents: toCents(125_000),
      reference: `mint-${String(this.#serial)}` as Reference,
      description: "" as Description,
      metadata: new Map() as ReadonlyMap<string, string> as Metadata,
      rail: DIRECT_RAIL,
      idempotencyKey: undefined,
    };
  }
}
