import type { NameOf, TableName, Tables, UsedReceipt } from "../../../../src/domain/decision.js";
import type { TableChanges } from "../../../../src/ledger/ports/store.js";
import type { Stored } from "./disk.js";
import { checkAccount, checkDeposit, checkPayment, checkTransaction, require } from "./memory-constraints.js";

/** The memory twin of one table: how its rows are found, and what the schema demands of each. */
interface TableRules<Row> {
  readonly keyOf: (row: Row) => string;
  /** A second unique name, as the reads of a lookup call it. */
  readonly nameOf: (row: Row) => string | undefined;
  readonly check: (row: Row) => void;
  /** The columns that an UPDATE sets. All others keep their value. */
  readonly changeable: readonly (keyof Row)[];
}

export const RULES: { readonly [Name in TableName]: TableRules<Tables[Name]> } = {
  accounts: {
    keyOf: ({ id }) => id,
    nameOf: ({ organizationId, depositReference: name }) =>
      name === undefined ? undefined : depositReferenceName({ organizationId, name }),
    check: checkAccount,
    changeable: [
      "status",
      "statusNote",
      "availableCents",
      "heldCents",
      "openPayments",
      "tier",
      "depositReference",
      "usage",
      "updatedAt",
      "lastSeq",
    ],
  },
  accountHolders: {
    keyOf: ({ accountId }) => accountId,
    nameOf: ({ organizationId, person, isOpen }) =>
      person === undefined || !isOpen ? undefined : userName({ organizationId, name: person.userId }),
    check: () => undefined,
    changeable: ["person", "isOpen", "phoneNumberChangedAt", "emailChangedAt"],
  },
  freezes: {
    keyOf: ({ id }) => id,
    nameOf: () => undefined,
    check: () => undefined,
    changeable: ["lifted"],
  },
  transactions: {
    keyOf: ({ id }) => id,
    nameOf: ({ organizationId, reference }) => referenceName({ organizationId, name: reference }),
    check: checkTransaction,
    changeable: [
      "status",
      "statusReason",
      "railMovement",
      "railReceipt",
      "failure",
      "openFlags",
      "reversedById",
      "availableAfterCents",
      "updatedAt",
      "completedAt",
    ],
  },
  payments: {
    keyOf: ({ transactionId }) => transactionId,
    nameOf: () => undefined,
    check: checkPayment,
    changeable: ["state", "number", "railReference", "begunAt", "sends", "turnedAway", "dueAt", "updatedAt"],
  },
  deposits: {
    keyOf: ({ id }) => id,
    nameOf: (row) => `deposit of ${receiptName(row)}`,
    check: checkDeposit,
    changeable: ["status", "reason", "accountId", "transactionId", "credits", "updatedAt"],
  },
  proposals: {
    keyOf: ({ subject }) => subject,
    nameOf: () => undefined,
    check: () => undefined,
    changeable: ["id", "seq", "content", "person", "proposedAt", "expiresAt", "decided", "sealed"],
  },
  apiKeys: {
    keyOf: ({ id }) => id,
    nameOf: ({ secretSha256 }) => secretSha256,
    check: () => undefined,
    changeable: ["revokedAt"],
  },
  railAccounts: {
    keyOf: ({ id }) => id,
    nameOf: () => undefined,
    check: () => undefined,
    changeable: [
      "settings",
      "credentials",
      "credentialsExpireAt",
      "payouts",
      "payoutsReason",
      "isDefault",
      "beginWithinMillis",
      "confirmAboveCents",
      "resolveAloneMaxCents",
      "floatMinCents",
      "revision",
      "warnings",
      "updatedAt",
    ],
  },
  reservePlaces: {
    keyOf: ({ organizationId, place }) => `${organizationId} ${place}`,
    nameOf: () => undefined,
    check: () => undefined,
    changeable: ["amountCents", "asOfDay", "evidence", "recordedAt", "seq"],
  },
  idempotencyKeys: {
    keyOf: ({ organizationId, key }) => keyName({ organizationId, name: key }),
    nameOf: () => undefined,
    check: () => undefined,
    changeable: [],
  },
  destinations: {
    keyOf: ({ id }) => id,
    nameOf: () => undefined,
    check: () => undefined,
    changeable: ["number", "removedAt"],
  },
};

export function userName({ organizationId, name }: NameOf<string>): string {
  return `user ${organizationId} ${name}`;
}

export function referenceName({ organizationId, name }: NameOf<string>): string {
  return `reference ${organizationId} ${name}`;
}

export function depositReferenceName({ organizationId, name }: NameOf<string>): string {
  return `deposit reference ${organizationId} ${name}`;
}

export function receiptName({ organizationId, receipt }: Pick<UsedReceipt, "organizationId" | "receipt">): string {
  return `receipt ${organizationId} ${receipt}`;
}

export function keyName({ organizationId, name }: NameOf<string>): string {
  return `key ${organizationId} ${name}`;
}

/** The rows of one table. Each read adds what it looked for to `reads`. */
export class MemoryTable<Row extends object> {
  readonly rows = new Map<string, Stored<Row>>();
  readonly #name: string;
  readonly #rules: TableRules<Row>;
  readonly #keysByName = new Map<string, string>();

  constructor(name: string, rules: TableRules<Row>) {
    this.#name = name;
    this.#rules = rules;
  }

  read(keys: Iterable<string>, reads: Set<string>): Stored<Row>[] {
    return [...new Set(keys)].flatMap((key) => {
      reads.add(this.#nameOfKey(key));
      return this.rows.get(key) ?? [];
    });
  }

  /** The key of the row with that name. */
  find(name: string, reads: Set<string>): readonly string[] {
    reads.add(name);
    const key = this.#keysByName.get(name);
    return key === undefined ? [] : [key];
  }

  check({ created, changed }: TableChanges<Row>): void {
    // As in the database, a change comes before an insert: it may free a name.
    const freed = new Set(changed.map(({ before }) => this.#rules.nameOf(before)));
    for (const { row } of changed) {
      freed.delete(this.#rules.nameOf(row));
      this.#rules.check(row);
    }
    for (const { row } of created) {
      const name = this.#rules.nameOf(row);
      require(!this.rows.has(this.#rules.keyOf(row)), `PRIMARY KEY ${this.#name}`);
      require(name === undefined || freed.has(name) || !this.#keysByName.has(name), `UNIQUE ${this.#name}`);
      this.#rules.check(row);
    }
  }

  /** Returns the keys and names whose rows a reader would now find changed. */
  commit({ created, changed }: TableChanges<Row>): readonly string[] {
    const touched: (string | undefined)[] = [];
    for (const { row } of changed) {
      const key = this.#rules.keyOf(row);
      const before = this.rows.get(key);
      if (before === undefined) continue;
      const set = Object.fromEntries(this.#rules.changeable.map((column) => [column, row[column]]));
      const after: Stored<Row> = Object.freeze({ ...before, ...set });
      this.rows.set(key, after);
      const [nameBefore, nameAfter] = [this.#rules.nameOf(before), this.#rules.nameOf(after)];
      touched.push(this.#nameOfKey(key));
      if (nameBefore === nameAfter) continue;
      touched.push(nameBefore, nameAfter);
      if (nameBefore !== undefined) this.#keysByName.delete(nameBefore);
      if (nameAfter !== undefined) this.#keysByName.set(nameAfter, key);
    }
    for (const { row, createdBy } of created) {
      const [key, name] = [this.#rules.keyOf(row), this.#rules.nameOf(row)];
      // A proposal names its own row: another one may have replaced that which created it.
      this.rows.set(key, Object.freeze({ seq: createdBy?.seq ?? 0, ...row }));
      if (name !== undefined) this.#keysByName.set(name, key);
      touched.push(this.#nameOfKey(key), name);
    }
    return touched.filter((each) => each !== undefined);
  }

  #nameOfKey(key: string): string {
    return `${this.#name} ${key}`;
  }
}
