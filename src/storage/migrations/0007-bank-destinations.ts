import type { Engine } from "../sql/engine.js";
import { destinationTable } from "./baseline/accounts.js";
import { listOf } from "./baseline/columns.js";
import { paymentTable } from "./baseline/payments.js";
import type { Migration } from "./migration.js";

const KINDS = ["PHONE", "TILL", "PAYBILL", "BANK"] as const;

/**
 * Destinations and payments can be of the kind BANK. PostgreSQL replaces the two constraints.
 * SQLite cannot, so it copies the rows into new tables: `kesc migrate` asks to stop the servers.
 */
export const bankDestinations: Migration = (engine) =>
  engine.name === "postgres"
    ? [...replaced(engine, "destinations", "kind"), ...replaced(engine, "payments", "number_kind")]
    : [
        ...rebuilt("destinations", ["destinations_of_accounts"], destinationTable(engine, KINDS)),
        ...rebuilt("payments", PAYMENT_INDEXES, paymentTable(engine, KINDS)),
      ];

const PAYMENT_INDEXES = ["payments_new_payouts", "payments_other_open", "payments_by_end", "payments_asked"];

function replaced({ table }: Engine, name: string, column: string): readonly string[] {
  const constraint = `${name}_${column}_check`;
  return [
    `ALTER TABLE ${table(name)} DROP CONSTRAINT ${constraint}`,
    `ALTER TABLE ${table(name)} ADD CONSTRAINT ${constraint} CHECK (${column} IN (${listOf(KINDS)}))`,
  ];
}

/** The new table has the columns of the old one, in their order. */
function rebuilt(name: string, indexes: readonly string[], made: readonly string[]): readonly string[] {
  return [
    ...indexes.map((index) => `DROP INDEX ${index}`),
    `ALTER TABLE ${name} RENAME TO ${name}_before`,
    ...made,
    `INSERT INTO ${name} SELECT * FROM ${name}_before`,
    `DROP TABLE ${name}_before`,
  ];
}
