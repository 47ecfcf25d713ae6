import { expect } from "chai";

import { toCents } from "../../../src/domain/values/cents.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { BookLine, HistoryReads } from "../../../src/statements/ports.js";
import { ACCOUNT_ID, serve, type ServerUnderTest, TRANSACTION_ID } from "../../support/service/grpc-server.js";

const PERIOD = { start: "2026-01-01", end: "2026-01-31" };

/** A mint of 1.00 that leaves the account with 1.00. */
const LINE: BookLine = {
  seq: 3,
  recordedAt: toUnixMillis(Date.UTC(2026, 0, 5)),
  kind: "transaction.completed",
  accountId: ACCOUNT_ID,
  userId: undefined,
  correctedAt: undefined,
  rail: "direct",
  transactionId: TRANSACTION_ID,
  debit: "reserve",
  credit: "available",
  amountCents: toCents(100),
  balancesAfter: { availableCents: toCents(100), heldCents: toCents(0) },
  receipt: "",
  reference: "r-1",
  description: "",
  actor: "operator",
  note: "",
  detail: undefined,
};

/** A book whose period has one line, after which the account has this balance. */
function bookWith(line: BookLine, closingCents: number): Partial<HistoryReads> {
  const looked = <Result>(result: Result) => Promise.resolve({ result, lookedAt: 1 });
  return {
    position: (_organization, asOf) =>
      looked({ seq: "before" in asOf && asOf.before < line.recordedAt ? 2 : 3, recordedAt: undefined }),
    balances: (_organization, { upToSeq }) => {
      const found = { seq: upToSeq, recordedAt: toUnixMillis(0), heldCents: toCents(0) };
      const availableCents = toCents(upToSeq < 3 ? 0 : closingCents);
      return looked({ found: { ...found, availableCents }, next: undefined });
    },
    accountLines: () => looked({ lines: [line], nextAfterSeq: undefined }),
    bookLines: () => looked({ lines: [line], nextAfterSeq: undefined }),
    sums: (_organization, { seq }) => {
      const cents = seq < 3 ? 0 : closingCents;
      return looked({
        seq,
        sums: { reserve: cents, shortfall: 0, charges: 0, available: cents, held: 0, unallocated: 0 },
        turnover: { minted: BigInt(cents), redeemed: 0n },
      });
    },
  };
}

describe("an export", () => {
  let under: ServerUnderTest;
  afterEach(() => under.close());

  const statement = () =>
    under.grpc.watch<{ lines: object[] }>("ExportStatement", { account_id: ACCOUNT_ID, ...PERIOD });

  it("ends well when its lines lead to the closing balance", async () => {
    under = await serve({ history: bookWith(LINE, 100) });
    expect(await statement().ended).to.include({ code: 0 });
    expect(await under.grpc.watch("ExportGeneralLedger", PERIOD).ended).to.include({ code: 0 });
  });

  for (const [what, line, closingCents] of [
    ["lines that lead to another closing balance", LINE, 101],
    ["a line whose balance does not follow from its amount", { ...LINE, amountCents: toCents(99) }, 100],
  ] as const) {
    it(`ends with INTERNAL, and an error in the log, at ${what}`, async () => {
      under = await serve({ history: bookWith(line, closingCents) });
      const stream = statement();
      expect(await stream.ended).to.include({ code: 13, reason: "INTERNAL" });
      // The opening line was sent before the fault was found, and no closing line ever.
      const kinds = stream.responses.flatMap(({ lines }) => lines.map((each) => (each as { type: string }).type));
      expect(kinds).to.include("opening").and.not.include("closing");
      const logged = under.lines.filter((line) => JSON.stringify(line).includes("FootingError"));
      expect(logged.map(({ level }) => level)).to.deep.equal([50]);
      expect(await under.grpc.watch("ExportGeneralLedger", PERIOD).ended).to.include({ code: 13 });
    });
  }

  it("is refused while the organization has two of its kind", async () => {
    const never = (): Promise<never> => new Promise(() => undefined);
    under = await serve({ history: { ...bookWith(LINE, 100), bookLines: never, position: never } });
    const open = [0, 1].map(() => under.grpc.watch("ExportJournal", PERIOD));
    await Promise.all(open.map(({ headers }) => headers));
    expect(await under.grpc.watch("ExportJournal", PERIOD).ended).to.include({ reason: "TOO_MANY_STREAMS" });
    for (const stream of open) stream.cancel();
    await Promise.all(open.map(({ ended }) => ended));
  });
});
