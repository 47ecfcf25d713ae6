import { expect } from "chai";

import type { Column } from "../../src/model/column.js";
import { KNEX_TABLE_NAMES, TABLES_BY_NAME } from "../../src/model/tables.js";
import { POSTGRES_OBJECTS } from "../../src/verify/schema/postgres.js";

const TYPES = { text: "text", int64: "bigint", bytes: "bytea" };

/** The columns of a table with their definitions: test/verify/schema.test.ts asks a database. */
function definitionsOf(table: string): Readonly<Record<string, string>> {
  const columns = Object.entries(POSTGRES_OBJECTS[table] ?? {}).filter(([name]) => name.startsWith("column "));
  return Object.fromEntries(columns.map(([name, definition]) => [name.slice("column ".length), definition]));
}

function definitionOf({ type, isNullable }: Column): string {
  return `${TYPES[type]}${isNullable ? "" : " NOT NULL"}`;
}

describe("the model", () => {
  it("has every table of the schema", () => {
    const tables = Object.keys(POSTGRES_OBJECTS);
    const named = TABLES_BY_NAME.map(([name]) => name);
    expect([...named, ...KNEX_TABLE_NAMES]).to.include.members(tables);
    expect(tables).to.include.members(named);
  });

  for (const [name, { columns, key, owner }] of TABLES_BY_NAME) {
    it(`has the columns of ${name}`, () => {
      const definitions = definitionsOf(name);
      const expected = Object.entries(definitions).map(([column, definition]) => [
        column,
        definition.replace(/ DEFAULT .*$| a$/, ""),
      ]);
      expect(Object.entries(columns).map(([column, of]) => [column, definitionOf(of)])).to.have.deep.members(expected);
      expect(Object.keys(columns)).to.include.members([...key, ...(owner.of === "database" ? [] : [owner.column])]);
      for (const [column, { isDefaulted, isNullable }] of Object.entries(columns)) {
        if (isDefaulted && !isNullable) expect(definitions[column], column).to.include("DEFAULT");
      }
    });
  }

  it("has a table after those that its rows refer to", () => {
    const names: readonly string[] = TABLES_BY_NAME.map(([name]) => name);
    const backwards = names.flatMap((name, index) =>
      Object.values(POSTGRES_OBJECTS[name] ?? {})
        .map((definition) => /FOREIGN KEY .* REFERENCES (\w+)/.exec(definition)?.[1])
        .filter((referred) => referred !== undefined && names.indexOf(referred) > index)
        .map((referred) => `${name} → ${String(referred)}`),
    );
    expect(backwards).to.deep.equal([]);
  });
});
