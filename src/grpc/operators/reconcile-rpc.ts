import { Readable } from "node:stream";

import { type CsvRecord, csvRecordsOf } from "../../../runtime/csv-records.js";
import { isOfCharges } from "../../domain/receipt.js";
import type { Rail } from "../../domain/transaction.js";
import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import {
  DifferenceKind,
  type MovementSide,
  type MovementTotals,
  type ReconcileStatementResponse,
  type StatementDifference,
  type StatementDifferences,
  type StatementTie,
} from "../../gen/kesc/admin/v1/admin_service.js";
import { railNamed } from "../../rails/rails.js";
import type { StatementFormat } from "../../rails/statement.js";
import { type ComparedStatement, compareStatement } from "../../reconcile/compare-statement.js";
import type { BookedMovements } from "../../reconcile/ports.js";
import { type Break, type BreakKind, signed, type Totals } from "../../reconcile/reconciliation.js";
import { remediesOf } from "../../reconcile/remedies.js";
import { RECORD_BYTES_MAX, type Statement, StatementError } from "../../reconcile/statement-movements.js";
import { type ExplainedTie, readTie } from "../../reconcile/tie.js";
import type { History } from "../../statements/as-of.js";
import { done, refuse } from "../calls/rpc-result.js";
import { enumOf } from "../messages/enums.js";
import { fieldsOf } from "../messages/field-kinds.js";
import { formatSigned, toRailBalance, toReserveHolding } from "../messages/history/supply.js";
import { toTimestamp } from "../messages/timestamp.js";
import { readingHistory } from "../services/history/history-turns.js";
import { OPERATORS_KINDS } from "./fields.js";
import { type OperatorRoute, unary } from "./operator-call.js";
import type { HandlersOptions } from "./options.js";
import { listCallerOf, readOrganization } from "./reading.js";

/** The most bytes of a statement. A larger one takes `kesc reconcile`. */
export const STATEMENT_BYTES_MAX = 4 * 1_024 * 1_024;
const ROWS_MAX = 50_000;
const DAYS_MAX = 31;
const DAY_MILLIS = 86_400_000;
const BOOKED_MAX = 100_000;
const SHOWN_MAX = 100;
/** So much is parsed in one go: other calls take turns with the parser. */
const CHUNK_BYTES = 65_536;

const KINDS: readonly BreakKind[] = ["missing_in_ledger", "missing_on_rail", "amount_differs", "double"];
const KIND_MESSAGES = enumOf(DifferenceKind, "DIFFERENCE_KIND", KINDS);

/** The rpc that compares a statement with the book. Its reads take the turns of lists. */
export function reconcileRpc(options: HandlersOptions): Record<string, OperatorRoute> {
  const { cellOf, listTurns, bookedMovements } = options;
  const now = (): UnixMillis => toUnixMillis(options.now());
  return {
    reconcileStatement: unary("reconcileStatement", {
      ...fieldsOf({ ...OPERATORS_KINDS, rail: { as: "of", parse: parseStatementRail }, statement: parseStatement })(
        "organization_id",
        "rail",
        "statement",
      ),
      run: ({ organizationId, of: { rail, format }, statement: text }, caller) =>
        readOrganization(options, organizationId, (found) => {
          const { history: reads } = cellOf(found);
          const asked = { organizationId, caller: listCallerOf(caller), listTurns, reads };
          return readingHistory(asked, async (history) => {
            const book = bounded(await bookedMovements(found, rail), history);
            const tie = await readTie(history, rail);
            try {
              return done(toResponse(await compareStatement(statementOf(text, format), { book, tie }), now()));
            } catch (error) {
              if (!(error instanceof StatementError)) throw error;
              const message = `cannot be compared: ${error.message.replace(/\.$/, "")}`;
              return refuse({ reason: "INVALID_FIELD", fields: [{ field: "statement", message, code: "FORMAT" }] });
            }
          });
        }),
    }),
  };
}

function parseStatementRail(unchecked: string): Parsed<{ readonly rail: Rail; readonly format: StatementFormat }> {
  const kind = railNamed(unchecked);
  if (kind?.statement === undefined) return unparsed("must be a rail with statements, such as mpesa", "UNKNOWN_VALUE");
  return parsed({ rail: kind.name, format: kind.statement });
}

function parseStatement(unchecked: string): Parsed<string> {
  if (unchecked.trim() === "") return unparsed("is required", "REQUIRED");
  return Buffer.byteLength(unchecked) <= STATEMENT_BYTES_MAX
    ? parsed(unchecked)
    : unparsed(`must have at most ${String(STATEMENT_BYTES_MAX)} bytes`, "TOO_LONG");
}

function statementOf(text: string, format: StatementFormat): Statement {
  return { name: "the statement", format, records: () => recordsOf(text) };
}

async function* recordsOf(text: string): AsyncGenerator<CsvRecord, void, void> {
  let rows = 0;
  try {
    for await (const record of csvRecordsOf(Readable.from(chunksOf(text)), { recordBytesMax: RECORD_BYTES_MAX })) {
      rows += 1;
      if (rows > ROWS_MAX) throw new StatementError(`It has more than ${String(ROWS_MAX)} rows.`);
      yield record;
    }
  } catch (error) {
    if (error instanceof StatementError) throw error;
    // Its words may repeat what stands in the row.
    throw new StatementError("It is not valid CSV.", { cause: error });
  }
}

function* chunksOf(text: string): Generator<Buffer> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) yield bytes.subarray(start, start + CHUNK_BYTES);
}

/** Lets each read of the book take a turn, and bounds the time and the rows that are compared. */
export function bounded(book: BookedMovements, { inTurn }: Pick<History, "inTurn">): BookedMovements {
  const inTurnOf = <Row>(read: () => Promise<readonly Row[]>): Promise<readonly Row[]> =>
    inTurn(async () => {
      const result = await read();
      return { result, lookedAt: result.length };
    });
  return {
    withReceipts: (receipts) => inTurnOf(() => book.withReceipts(receipts)),
    transactions: (ids) => inTurnOf(() => book.transactions(ids)),
    transactionsEndingWith: (ends) => inTurnOf(() => book.transactionsEndingWith(ends)),
    adjusted: () =>
      inTurn(async () => {
        const result = await book.adjusted();
        return { result, lookedAt: result.size };
      }),
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

function toResponse(compared: ComparedStatement, now: UnixMillis): ReconcileStatementResponse {
  const { facts, period, reconciled, tie } = compared;
  const { movements, charges } = reconciled;
  const breaks = [...movements.breaks, ...charges.breaks];
  return {
    start: toTimestamp(period.from),
    end: toTimestamp(period.to),
    on_rail: toTotals(movements.onRail),
    booked: toTotals(movements.booked),
    matched: toTotals(movements.matched),
    charges: toTotals(charges.onRail),
    charges_matched: toTotals(charges.matched),
    not_completed: BigInt(facts.notCompleted),
    at_the_edge: BigInt(movements.atTheEdge),
    differences: KINDS.flatMap((kind) => toDifferences(kind, breaks)),
    tie: tie && toTie(tie, now),
  };
}

function toTotals({ count, inCents, outCents }: Totals): MovementTotals {
  return { count: BigInt(count), amount_in: formatSigned(inCents), amount_out: formatSigned(outCents) };
}

function toDifferences(kind: BreakKind, breaks: readonly Break[]): readonly StatementDifferences[] {
  const own = breaks.filter((each) => each.kind === kind);
  if (own.length === 0) return [];
  const differences = own.slice(0, SHOWN_MAX).map(toDifference);
  return [{ kind: KIND_MESSAGES[kind], count: BigInt(own.length), differences }];
}

function toDifference(found: Break): StatementDifference {
  const { rail, booked } = found;
  const receipt = (rail ?? booked)?.receipt;
  return {
    receipt,
    transaction_id: booked?.transactionId ?? rail?.transaction?.id,
    account_id: booked?.accountId ?? rail?.transaction?.accountId,
    on_rail: rail && toSide(rail, rail.completedAt),
    booked: booked && toSide(booked, booked.recordedAt),
    is_charge: receipt !== undefined && isOfCharges(receipt),
    remedies: [...remediesOf(found)],
  };
}

function toSide(side: Parameters<typeof signed>[0], time: UnixMillis | undefined): MovementSide {
  return { amount: formatSigned(signed(side)), time: time === undefined ? undefined : toTimestamp(time) };
}

function toTie(tie: ExplainedTie, now: UnixMillis): StatementTie {
  return {
    time: toTimestamp(tie.at),
    rail_balances: tie.railAccounts.map((balance) => toRailBalance(balance, now)),
    reserve_holdings: tie.places.map((figure) => toReserveHolding(figure, now)),
    owed: formatSigned(tie.owedCents),
    difference: formatSigned(tie.differenceCents),
    shortfall: formatSigned(-BigInt(tie.sums.shortfall)),
    charges: formatSigned(-BigInt(tie.sums.charges)),
    under_way: formatSigned(tie.byTimeCents),
    differences: formatSigned(tie.byBreaksCents),
    not_explained: formatSigned(tie.unexplainedCents),
  };
}
