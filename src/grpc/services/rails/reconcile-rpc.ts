import type { StatementForm } from "../../../domain/statement-form.js";
import { BANK_RAIL, type Rail } from "../../../domain/transaction.js";
import { toUnixMillis, type UnixMillis } from "../../../domain/values/time.js";
import type { BookOwner } from "../../../operators/reads.js";
import { accountAtPlace } from "../../../rails/bank/account.js";
import { statementSettings } from "../../../rails/rail-kind.js";
import { type ComparedPlace, comparePlace, formOfPlace } from "../../../reconcile/banks/compare-place.js";
import { type ComparedStatement, compareStatement } from "../../../reconcile/compare-statement.js";
import { FILE_BYTES_MAX } from "../../../reconcile/files/tables.js";
import type { BookedMovements } from "../../../reconcile/ports.js";
import type { ReconciledPeriod } from "../../../reconcile/reconciliation.js";
import { StatementError } from "../../../reconcile/statement-error.js";
import { readTie } from "../../../reconcile/tie.js";
import type { History } from "../../../statements/as-of.js";
import { organizationUpload } from "../../calls/admin-rpc.js";
import { actorOf } from "../../calls/call-context.js";
import type { RpcRoute } from "../../calls/route.js";
import { done, refuse, refuseField } from "../../calls/rpc-result.js";
import { problemOf } from "../../messages/fields.js";
import { toComparison } from "../../messages/operators/comparison.js";
import { parseFirst, type StatementOf } from "../../messages/operators/statement-file.js";
import { readingHistory, RefusedReadError } from "../history/history-turns.js";
import type { HandlersOptions } from "../operator-options.js";

const DAYS_MAX = 31;
const DAY_MILLIS = 86_400_000;
const BOOKED_MAX = 100_000;
/** To receive this number of bytes rests as long as a row does. */
const RECEIVED_BYTES_PER_ROW = 512;

/**
 * Returns what compares a file with the book: in the period that is given, or in its own. It
 * resolves with undefined if too many files of others wait, and rejects with a StatementError.
 */
export function statementComparer({
  bookedMovements,
  fileReading: reading,
}: Pick<HandlersOptions, "bookedMovements" | "fileReading">): (given: SentFile) => Promise<ComparedFile | undefined> {
  return async ({ of, name, bytes, person, organization, history, period }) => {
    const bookOf = async (rail: Rail): Promise<BookedMovements> =>
      bounded(await bookedMovements(organization, rail), history);
    if ("place" in of) {
      const { place } = of;
      const kept = of.form ?? (await keptForm(history, place));
      const account = kept.account ?? accountAtPlace(place, await (await bookOf(BANK_RAIL)).settings());
      const form = { ...kept, account };
      await received(history, bytes);
      const file = await reading.ofBank(person, { form, bytes }, history);
      const { source } = form;
      return file && comparePlace(file, { place, source, book: await bookOf(source as Rail), history, ...period });
    }
    const { rail, kind } = of;
    const book = await bookOf(rail);
    const tie = await readTie(history, rail);
    const statement = { ...statementSettings(kind, await book.settings()), name, rail, bytes };
    await received(history, bytes);
    const facts = await reading.ofRail(person, statement, history);
    return facts && compareStatement(facts, { book, tie, ...period });
  };
}

/** The rpc that compares a statement with the book. Its reads take the turns of lists. */
export function reconcileRpc(options: HandlersOptions): Record<string, RpcRoute> {
  const { cellOf, listTurns } = options;
  const compare = statementComparer(options);
  const now = (): UnixMillis => toUnixMillis(options.now());
  return {
    reconcileStatement: organizationUpload("reconcileStatement", {
      parse: parseFirst,
      field: "statement",
      bytesMax: FILE_BYTES_MAX,
      run: ({ of, fileName: name }, bytes, caller) => {
        const { organization } = caller;
        if (bytes.length === 0) return Promise.resolve(refuseField("statement", "is required", "REQUIRED"));
        const { history: reads } = cellOf(organization);
        return readingHistory({ organizationId: organization.id, caller, listTurns, reads }, async (history) => {
          try {
            const person = actorOf(caller.who);
            const compared = await compare({ of, name, bytes, person, organization, history });
            return compared === undefined ? refuse({ reason: "QUEUE_FULL" }) : done(toComparison(compared, now()));
          } catch (error) {
            if (!(error instanceof StatementError)) throw error;
            const problem = error.message.replace(/\.$/, "");
            return refuseField("statement", `must be a statement that can be compared: ${problem}`, "FORMAT");
          }
        });
      },
    }),
  };
}

/** Rejects with a RefusedReadError if the name of the place is none of a source. */
async function keptForm({ reads, organizationId, inTurn }: History, place: string): Promise<StatementForm> {
  const places = await inTurn(async () => {
    const result = await reads.reserveHoldings(organizationId);
    return { result, lookedAt: result.length };
  });
  const form = formOfPlace(place, places);
  if (form.ok) return form.value;
  // The caller gave no form, so the place makes a source that it must not have.
  const { problem, code } = form;
  const ofPlace = { field: "place", message: `${problem}. Another source can be given in form.source`, code };
  const field = code === "RESERVED" ? ofPlace : problemOf("form", form);
  throw new RefusedReadError({ reason: "INVALID_FIELD", fields: [field] });
}

export type ComparedFile = ComparedStatement | ComparedPlace;

/** A file, and the book with which it is compared. */
export interface SentFile {
  readonly of: StatementOf;
  /** That of the file. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Who sends the file. */
  readonly person: string;
  readonly organization: BookOwner;
  readonly history: History;
  readonly period?: ReconciledPeriod;
}

/** Rests as long as it took to receive the file. */
function received({ inTurn }: History, { length }: Uint8Array): Promise<void> {
  return inTurn(() => Promise.resolve({ result: undefined, lookedAt: length / RECEIVED_BYTES_PER_ROW }));
}

/** Lets each read of the book take a turn, and bounds the time and the rows that are compared. */
export function bounded(book: BookedMovements, { inTurn }: Pick<History, "inTurn">): BookedMovements {
  /** A name that the book lacks costs as much as one that it has. */
  const inTurnOf = <Row>(read: () => Promise<readonly Row[]>, names = 0): Promise<readonly Row[]> =>
    inTurn(async () => {
      const result = await read();
      return { result, lookedAt: Math.max(names, result.length) };
    });
  return {
    settings: () => inTurn(async () => ({ result: await book.settings(), lookedAt: 1 })),
    withReceipts: (receipts) => inTurnOf(() => book.withReceipts(receipts), receipts.length),
    transactions: (ids) => inTurnOf(() => book.transactions(ids), ids.length),
    transactionsEndingWith: (ends) => inTurnOf(() => book.transactionsEndingWith(ends), ends.length),
    adjusted: () =>
      inTurn(async () => {
        const result = await book.adjusted();
        return { result, lookedAt: result.size };
      }),
    openPayouts: () => inTurnOf(() => book.openPayouts()),
    async *within(period) {
      if (period.to - period.from > DAYS_MAX * DAY_MILLIS)
        throw new StatementError(`It covers more than ${String(DAYS_MAX)} days.`);
      let rows = 0;
      const slices = book.within(period)[Symbol.asyncIterator]();
      for (;;) {
        const slice = await inTurnOf(async () => {
          const next = await slices.next();
          return next.done === true ? [] : next.value;
        });
        if (slice.length === 0) return;
        rows += slice.length;
        if (rows > BOOKED_MAX) throw new StatementError(`The book has more than ${String(BOOKED_MAX)} movements then.`);
        yield slice;
      }
    },
  };
}
