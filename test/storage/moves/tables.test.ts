import { expect } from "chai";

import { columnsOfTables } from "../../../src/storage/moves/columns.js";
import { MOVED_TABLES, TABLES_THAT_STAY, TOMBSTONE_TABLES } from "../../../src/storage/moves/tables.js";
import { databaseOfSuite, ENGINES } from "../../support/databases.js";

interface ColumnRow {
  readonly table: string;
  readonly column: string;
}

/** A column with one of these names says whose a row is. */
const OWNERS: readonly string[] = ["book", "organization_id"];

for (const engine of ENGINES) {
  describe(`the tables of a move (${engine})`, () => {
    const opened = databaseOfSuite(engine);
    let columns: readonly ColumnRow[];
    before(async () => {
      columns = await opened.cell.reader.rows<ColumnRow>(opened.cell.engine.columnsSql);
    });

    it("are all tables of the schema, but those whose rows are of no organization", () => {
      const names = MOVED_TABLES.map(({ name }) => name);
      expect([...names, ...TABLES_THAT_STAY]).to.have.members([...new Set(columns.map(({ table }) => table))]);
    });

    it("leave behind no table that names an organization, but that of the moves themselves", () => {
      const staying = columns.filter(({ table }) => TABLES_THAT_STAY.includes(table) && table !== "book_moves");
      expect(staying.filter(({ column }) => OWNERS.includes(column))).to.deep.equal([]);
    });

    it("are read by the column that says whose a row is", () => {
      for (const { name, owner } of MOVED_TABLES) {
        const owners = columns.filter((each) => each.table === name && OWNERS.includes(each.column));
        if (owners.length > 0) expect(owners.map((each) => each.column)).to.deep.equal([owner.column], name);
      }
    });

    it("go along with every column, but those that each database numbers by itself", async () => {
      const own = await columnsOfTables(opened.cell);
      const numbered = MOVED_TABLES.flatMap(({ name, numbered: column }) =>
        column === undefined ? [] : [[name, column]],
      );
      const moved = [...own].flatMap(([table, names]) => Object.keys(names).map((column) => [table, column]));
      expect([...moved, ...numbered]).to.have.deep.members(
        columns.filter(({ table }) => !TABLES_THAT_STAY.includes(table)).map(({ table, column }) => [table, column]),
      );
      expect(numbered).to.deep.equal([["rail_messages", "id"]]);
    });

    it("begin with those that stay when a book is emptied", () => {
      expect(MOVED_TABLES.slice(0, TOMBSTONE_TABLES.length).map(({ name }) => name)).to.deep.equal(
        TOMBSTONE_TABLES.map(({ name }) => name),
      );
    });
  });
}
