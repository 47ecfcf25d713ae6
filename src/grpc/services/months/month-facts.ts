import type { MonthFacts } from "../../../domain/month-obstacles.js";
import { type Month, periodOfMonth } from "../../../domain/values/month.js";
import { railNamed } from "../../../rails/rails.js";
import type { SealKeys } from "../../../seals/key-file.js";
import type { FoundSeal, NumberedBook } from "../../../seals/ports.js";
import type { History } from "../../../statements/as-of.js";
import type { RecordedFigure } from "../../../statements/ports.js";
import { reserveAsOf } from "../../../statements/reserve-history.js";
import { type PeriodRows, rowsOf } from "../../../statements/statement.js";
import type { OperatorCaller } from "../acts.js";
import { RefusedReadError } from "../history/history-turns.js";
import type { HandlersOptions } from "../operator-options.js";
import type { ComparedFile, SentFile } from "../rails/reconcile-rpc.js";
import { type ComparedOfMonth, comparedOfMonth, type SentOfMonth } from "./month-statements.js";

/** What decides about a month, and what its pack takes from there. */
export interface FoundMonth extends MonthFacts {
  readonly period: PeriodRows;
  readonly keys: SealKeys | undefined;
  readonly book: NumberedBook;
  /** Undefined before the first seal. */
  readonly seal: FoundSeal | undefined;
  readonly figures: readonly RecordedFigure[];
  readonly statements: readonly ComparedOfMonth[];
}

interface FindOptions extends HandlersOptions {
  readonly history: History;
  readonly caller: OperatorCaller;
  readonly month: Month;
  readonly sent: readonly SentOfMonth[];
  readonly compare: (given: SentFile) => Promise<ComparedFile | undefined>;
}

/** Reads what decides whether a month can be closed. Undefined: too many files wait. */
export async function monthFacts(options: FindOptions): Promise<FoundMonth | undefined> {
  const { administration, seals, history, caller, month, sent, compare } = options;
  const { organization } = caller;
  const { organizationId } = history;
  const { start, end } = periodOfMonth(month);
  const period = await rowsOf(history, { start, end });
  const sealReads = seals.reads(organization);
  const book = await sealReads.book(organizationId);
  if (book === undefined) throw new Error(`the organization ${organizationId} has no book`);
  const seal = await sealReads.seal(book);
  const places = await history.reads.reserveHoldings(organizationId);
  const figures = await reserveAsOf(history, end);
  const accounts = await administration.railAccounts(organization);
  const statements: ComparedOfMonth[] = [];
  for (const [index, statement] of sent.entries()) {
    const compared = await comparedOfMonth(statement, { compare, history, caller, month }).catch((error: unknown) => {
      throw namedIn(`statements[${String(index)}]`, error);
    });
    if (compared === undefined) return undefined;
    statements.push(compared);
  }
  return {
    organizationId,
    month,
    rows: period.toSeq - period.afterSeq,
    lastSeq: period.toSeq,
    sealedSize: seal?.size ?? 0,
    hasSealKey: seals.keys() !== undefined,
    isAlarmed: seal?.alarmRaisedAt !== undefined,
    rails: accounts.map(({ rail }) => rail).filter((rail) => railNamed(rail)?.statement !== undefined),
    figures,
    places: [...new Set([...places.map(({ place }) => place), ...ofPlaces(statements)])],
    statements,
    period,
    keys: seals.keys(),
    book,
    seal,
  };
}

/** Names the fields of a refusal as the request does. */
function namedIn(statement: string, error: unknown): unknown {
  if (!(error instanceof RefusedReadError) || error.refusal.reason !== "INVALID_FIELD") return error;
  const fields = error.refusal.fields.map((each) => ({ ...each, field: `${statement}.${each.field}` }));
  return new RefusedReadError({ reason: "INVALID_FIELD", fields });
}

/** A statement of a place without any figure is of a place, too. */
function ofPlaces(statements: readonly ComparedOfMonth[]): readonly string[] {
  return statements.filter(({ isOfRail }) => !isOfRail).map(({ of }) => of);
}
