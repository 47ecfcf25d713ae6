import { isOfCharges } from "../../../domain/receipt.js";
import type { Rail } from "../../../domain/transaction.js";
import { type Parsed, parsed, unparsed } from "../../../domain/values/parsed.js";
import { toUnixMillis, type UnixMillis } from "../../../domain/values/time.js";
import {
  DifferenceKind,
  type MovementSide,
  type MovementTotals,
  type ReconcileStatementRequest,
  type ReconcileStatementResponse,
  type StatementDifference,
  type StatementDifferences,
  type StatementTie,
} from "../../../gen/kesc/admin/v1/admin_service.js";
import { type RailKind, statementSettings } from "../../../rails/rail-kind.js";
import { railNamed } from "../../../rails/rails.js";
import { type ComparedStatement, compareStatement } from "../../../reconcile/compare-statement.js";
import { FILE_BYTES_MAX } from "../../../reconcile/files/tables.js";
import type { BookedMovements } from "../../../reconcile/ports.js";
import { type Break, type BreakKind, signed, type Totals } from "../../../reconcile/reconciliation.js";
import { remediesOf } from "../../../reconcile/remedies.js";
import { StatementError } from "../../../reconcile/statement-error.js";
import { type ExplainedTie, readTie } from "../../../reconcile/tie.js";
import type { History } from "../../../statements/as-of.js";
import { organizationUpload } from "../../calls/admin-rpc.js";
import { actorOf } from "../../calls/call-context.js";
import type { RpcRoute } from "../../calls/route.js";
import { done, refuse } from "../../calls/rpc-result.js";
import { enumOf } from "../../messages/enums.js";
import { fieldsOf } from "../../messages/field-kinds.js";
import type { ParsedFields } from "../../messages/fields.js";
import { formatSigned, toRailBalance, toReserveHolding } from "../../messages/history/supply.js";
import { OPERATORS_KINDS } from "../../messages/operators/fields.js";
import { toLostNight } from "../../messages/operators/night.js";
import { toTimestamp } from "../../messages/timestamp.js";
import { readingHistory } from "../history/history-turns.js";
import type { HandlersOptions } from "../operator-options.js";
import { StatementReading } from "./read-statement.js";

const DAYS_MAX = 31;
const DAY_MILLIS = 86_400_000;
const BOOKED_MAX = 100_000;
const SHOWN_MAX = 100;
const FILE_NAME_CHARACTERS_MAX = 255;
/** To receive this number of bytes rests as long as a row does. */
const RECEIVED_BYTES_PER_ROW = 512;

const KINDS: readonly BreakKind[] = ["missing_in_ledger", "missing_on_rail", "amount_differs", "double"];
const KIND_MESSAGES = enumOf(DifferenceKind, "DIFFERENCE_KIND", KINDS);

/** The rpc that compares a statement with the book. Its reads take the turns of lists. */
export function reconcileRpc(options: HandlersOptions): Record<string, RpcRoute> {
  const { cellOf, listTurns, bookedMovements } = options;
  const reading = new StatementReading();
  const now = (): UnixMillis => toUnixMillis(options.now());
  return {
    reconcileStatement: organizationUpload("reconcileStatement", {
      ...fieldsOf({
        ...OPERATORS_KINDS,
        rail: { as: "of", parse: parseStatementRail },
        file_name: parseFileName,
      })("rail", "file_name"),
      parseMore,
      pieceOf: ({ statement }) => statement,
      field: "statement",
      bytesMax: FILE_BYTES_MAX,
      run: ({ of: { rail, kind }, fileName: name }, bytes, caller) => {
        const { organization } = caller;
        if (bytes.length === 0) return Promise.resolve(refuse(badStatement("is required", "REQUIRED")));
        const { history: reads } = cellOf(organization);
        return readingHistory({ organizationId: organization.id, caller, listTurns, reads }, async (history) => {
          const book = bounded(await bookedMovements(organization, rail), history);
          const tie = await readTie(history, rail);
          const statement = { ...statementSettings(kind, await book.settings()), name, rail, bytes };
          await history.inTurn(() =>
            Promise.resolve({ result: undefined, lookedAt: bytes.length / RECEIVED_BYTES_PER_ROW }),
          );
          try {
            const facts = await reading.read(actorOf(caller.who), statement, history);
            if (facts === undefined) return refuse({ reason: "QUEUE_FULL" });
            return done(toResponse(await compareStatement(facts, { book, tie }), now()));
          } catch (error) {
            if (!(error instanceof StatementError)) throw error;
            const problem = error.message.replace(/\.$/, "");
            return refuse(badStatement(`must be a statement that can be compared: ${problem}`, "FORMAT"));
          }
        });
      },
    }),
  };
}

function badStatement(message: string, code: "REQUIRED" | "FORMAT") {
  return { reason: "INVALID_FIELD", fields: [{ field: "statement", message, code }] } as const;
}

interface StatementRail {
  readonly rail: Rail;
  readonly kind: RailKind;
}

function parseStatementRail(unchecked: string): Parsed<StatementRail> {
  const kind = railNamed(unchecked);
  if (kind?.statement === undefined) return unparsed("must be a rail with statements, such as mpesa", "UNKNOWN_VALUE");
  return parsed({ rail: kind.name, kind });
}

function parseFileName(unchecked: string): Parsed<string> {
  return unchecked.length <= FILE_NAME_CHARACTERS_MAX
    ? parsed(unchecked)
    : unparsed(`must have at most ${String(FILE_NAME_CHARACTERS_MAX)} characters`, "TOO_LONG");
}

/** Only the first message says what the file is of. */
function parseMore({ rail, file_name }: ReconcileStatementRequest): ParsedFields<undefined> {
  const given = Object.entries({ rail, file_name }).filter(([, text]) => text !== "");
  if (given.length === 0) return { ok: true, value: undefined };
  const message = "must be in the first message only";
  return { ok: false, fields: given.map(([field]) => ({ field, message, code: "CONFLICT" as const })) };
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
    doubts: [...facts.doubts],
    lost_night: toLostNight(compared.night),
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
    row_kind: rail?.kind,
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
