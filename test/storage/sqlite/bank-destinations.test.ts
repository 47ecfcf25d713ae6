import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";

import { MIGRATIONS } from "../../../src/storage/migrate.js";
import { sqliteEngine } from "../../../src/storage/sqlite/engine.js";

const BANKS = "0007-bank-destinations";

describe("the migration to payments to banks, on SQLite", () => {
  it("keeps each row as it was, and lets new ones be to a bank", () => {
    const database = new BetterSqlite3(":memory:");
    try {
      const run = (names: readonly string[]): void => {
        for (const name of names) for (const sql of MIGRATIONS[name]?.(sqliteEngine) ?? []) database.exec(sql);
      };
      const names = Object.keys(MIGRATIONS);
      run(names.slice(0, names.indexOf(BANKS)));
      // The rows to which they refer are another matter.
      database.pragma("foreign_keys = OFF");
      const insert = (id: string, kind: string): void => {
        database
          .prepare(
            `INSERT INTO payments (transaction_id, book, rail_account_id, direction, state, phone_number, masked_phone,
               rail_reference, begun_at, sends, due_at, ahead_millis, updated_at, checks, advances, last_code,
               turned_away, number_kind, status_question)
             VALUES (?, 1, 'rail', 'REDEEM', 'SENDING', x'01', '***', 'ref', 5, 2, 6, 7, 8, 9, 10, 'code', 11, ?, ?)`,
          )
          .run(id, kind, id);
        database
          .prepare(
            `INSERT INTO destinations (book, seq, id, account_id, kind, label, number, masked_number, content_salt,
               usable_at, created_at, removed_at)
             VALUES (1, ?, ?, 'acc', ?, 'rent', x'02', '***', x'03', 9, 8, NULL)`,
          )
          .run(database.prepare("SELECT count(*) + 1 FROM destinations").pluck().get(), id, kind);
      };
      const rows = (): readonly unknown[] => [
        database.prepare("SELECT * FROM payments WHERE number_kind <> 'BANK'").all(),
        database.prepare("SELECT * FROM destinations WHERE kind <> 'BANK'").all(),
      ];
      insert("a", "TILL");
      const before = rows();
      expect(() => {
        insert("b", "BANK");
      }).to.throw(/CHECK/);
      run([BANKS]);
      insert("b", "BANK");
      expect(rows()).to.deep.equal(before);
      expect(() => {
        insert("c", "CHEQUE");
      }).to.throw(/CHECK/);
    } finally {
      database.close();
    }
  });
});
