import { expect } from "chai";

import type { AccountId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import type { Cell } from "../../src/storage/database.js";
import type { Reader } from "../../src/storage/sql/reader.js";
import { ENGINES } from "../support/databases.js";
import { eventually } from "../support/eventually.js";
import { mint, redeem } from "../support/operations/transactions.js";
import { type InProcess, startInProcess } from "../support/service/in-process.js";

const HOUR_MILLIS = 3_600_000;
const ROWS = 20_000;
const BATCH = 500;
// A message has the lines of 192 rows at most. A row has two lines in a general ledger.
const LINES_MAX = 384;
const EXPORT_MILLIS_MAX = 60_000;

type Line = Readonly<Record<string, string>>;

/** Counts the reads of lists, which the exports use. */
function countReads({ listReader }: Cell): () => number {
  let count = 0;
  const rows = listReader.rows.bind(listReader);
  const counted: Reader["rows"] = (sql, bindings) => {
    count += 1;
    return rows(sql, bindings);
  };
  Object.assign(listReader, { rows: counted });
  return () => count;
}

function centsOf(text = ""): number {
  return text === "" ? 0 : Math.round(Number(text) * 100);
}

function sumOf(lines: readonly Line[], field: string): number {
  return lines.reduce((sum, line) => sum + centsOf(line[field]), 0);
}

for (const engine of ENGINES) {
  describe(`the exports of 20,000 rows (${engine})`, function () {
    this.timeout(EXPORT_MILLIS_MAX);
    let time = Date.now() - 2 * HOUR_MILLIS;
    const period = { start: new Date(time).toISOString(), end: new Date(time + HOUR_MILLIS).toISOString() };
    let service: InProcess;
    let reads: () => number;
    let accountId: string;

    before(async () => {
      service = await startInProcess(engine, () => toUnixMillis(time));
      const [cell] = service.database.cells;
      const body = { user_id: "amina", phone_number: "0712345678" };
      const created = await service.rest.send("POST", "/accounts", { key: service.a.key, body });
      accountId = String(created.json["id"]);
      const given = { organizationId: service.a.organizationId, accountId: accountId as AccountId };
      for (let first = 0; first < ROWS; first += BATCH) {
        const commands = Array.from({ length: BATCH }, (_, index) => {
          const reference = `row-${String(first + index)}`;
          // Each third row takes out what the row before it has brought in.
          return index % 3 === 2
            ? redeem({ ...given, amount: "0.70", reference })
            : mint({ ...given, amount: "0.70", reference });
        });
        const results = await cell.committer.commit(commands, toUnixMillis(time + first));
        expect(results.filter(({ kind }) => kind !== "done")).to.deep.equal([]);
      }
      reads = countReads(cell);
      time += HOUR_MILLIS + HOUR_MILLIS / 2;
    });
    // Ends with an audit of the books, as `kesc verify` does.
    after(() => service.dispose());

    /** Follows an export to its end. Returns its messages, and counts the reads. */
    async function exported(rpc: string, request: object) {
      const before = reads();
      const stream = service.grpc.watch<{ readonly lines: readonly Line[] }>(rpc, request, {
        key: service.a.key,
        deadlineMillis: EXPORT_MILLIS_MAX,
      });
      await eventually(() => stream.responses.length > 0);
      const readsBeforeFirst = reads() - before;
      expect(await stream.ended).to.include({ code: 0 });
      const messages = stream.responses.map(({ lines }) => lines);
      return { messages, lines: messages.flat(), readsBeforeFirst, readsInAll: reads() - before };
    }

    function expectBounded({ messages, readsBeforeFirst, readsInAll }: Awaited<ReturnType<typeof exported>>): void {
      expect(Math.max(...messages.map(({ length }) => length))).to.be.at.most(LINES_MAX);
      expect(readsInAll).to.be.above(ROWS / LINES_MAX);
      expect(readsBeforeFirst).to.be.below(readsInAll / 2);
    }

    it("streams a statement in bounded messages, the first one long before the last row is read", async () => {
      const found = await exported("ExportStatement", { account_id: accountId, ...period });
      expectBounded(found);
      const { lines } = found;
      expect(lines).to.have.lengthOf(ROWS + 2);
      const [closing, moved] = [lines.at(-1) ?? {}, lines.slice(1, -1)];
      expect(new Set(moved.map(({ reference }) => reference)).size).to.equal(ROWS);
      expect(closing["type"]).to.equal("closing");
      const totals = [sumOf(moved, "amount_in"), sumOf(moved, "amount_out")];
      expect(totals).to.deep.equal([centsOf(closing["amount_in"]), centsOf(closing["amount_out"])]);
      expect(centsOf(closing["balance"])).to.equal((totals[0] ?? 0) - (totals[1] ?? 0));
      const { text } = await service.rest.send("GET", `/accounts/${accountId}`, { key: service.a.key });
      expect(text).to.include(`"available_balance":${closing["balance"] ?? ""}`);
    });

    it("streams a general ledger that foots, and closes with the sums of the book", async () => {
      const found = await exported("ExportGeneralLedger", period);
      expectBounded(found);
      const closing = found.lines.filter(({ type }) => type === "closing");
      const moved = found.lines.filter(({ type = "" }) => type.startsWith("transaction."));
      expect(moved).to.have.lengthOf(2 * ROWS);
      expect(sumOf(moved, "debit")).to.equal(sumOf(moved, "credit"));
      expect([sumOf(closing, "debit"), sumOf(closing, "credit")]).to.deep.equal([
        sumOf(moved, "debit"),
        sumOf(moved, "credit"),
      ]);
      const balances = new Map(closing.map(({ book_account = "", balance }) => [book_account, centsOf(balance)]));
      const { reserve, owed, available } = await service.books();
      expect(balances.get("reserve")).to.equal(Number(reserve));
      expect(balances.get("available")).to.equal(Number(available));
      expect(Number(owed)).to.equal(Number(reserve));
    });

    it("streams the journal, row by row of the book", async () => {
      const found = await exported("ExportJournal", period);
      expectBounded(found);
      const sequences = found.lines.map(({ sequence }) => Number(sequence));
      const first = sequences[0] ?? 0;
      expect(sequences).to.deep.equal(Array.from({ length: sequences.length }, (_, index) => first + index));
      expect(found.lines.filter(({ type }) => type === "transaction.completed")).to.have.lengthOf(ROWS);
    });
  });
}
