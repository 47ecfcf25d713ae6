import { expect } from "chai";

import { verificationLines } from "../../src/cli/commands/verify.js";
import type { Column, ColumnType } from "../../src/model/column.js";
import { TABLES_BY_NAME } from "../../src/model/tables.js";
import { ENGINES } from "../support/databases.js";
import { STAGE } from "../support/stage.js";
import { entryOf, fillEachTable, ONE_OF } from "./given/each-table.js";
import { openUnguarded, type Unguarded } from "./unguarded.js";

/** What nobody can read, or no program writes, by the type of a column. See `valuesOf`. */
const GARBAGE: Readonly<Record<ColumnType, readonly string[]>> = {
  text: ["'{a'", "'[null]'", "''"],
  bytes: ["BYTES()", "BYTES(00ff)"],
  int64: ["-1", "9223372036854775807"],
};

/** The values of this run: all of them at night, otherwise one by turns, another on each engine. */
function valuesOf({ type, isNullable }: Column, index: number): readonly string[] {
  const values = [...GARBAGE[type], ...(isNullable ? ["NULL"] : [])];
  return STAGE === "nightly" ? values : [values[index % values.length] ?? "NULL"];
}

for (const [turn, engine] of ENGINES.entries()) {
  describe(`verify on ${engine}, after somebody wrote garbage past every guard`, () => {
    let unguarded: Unguarded;
    before(async () => {
      unguarded = await openUnguarded(engine, fillEachTable);
    });
    after(() => unguarded.dispose());

    let index = 0;
    for (const [table, { columns, key }] of TABLES_BY_NAME) {
      for (const [name, column] of Object.entries(columns)) {
        if (index++ % ONE_OF[engine] !== 0) continue;
        const values = valuesOf(column, turn + index);
        it(`ends with findings on garbage in ${table}.${name}, or says that it does not cover it`, async () => {
          for (const value of values) {
            const other = `SELECT ${key.join(", ")} FROM ${table} WHERE "${name}" IS DISTINCT FROM ${unguarded.sql(value)} LIMIT 1`;
            const verification = await unguarded.verifyAfter([
              `UPDATE ${table} SET "${name}" = ${value} WHERE (${key.join(", ")}) = (${other})`,
            ]);
            expect(verificationLines(verification, undefined), value).to.have.length.above(1);
            const isCovered = entryOf(`${table}.${name}`) === undefined && (await unguarded.rows(other)).length > 0;
            if (isCovered) expect(verification.findingsCount, value).to.be.above(0);
          }
        });
      }
    }
  });
}
