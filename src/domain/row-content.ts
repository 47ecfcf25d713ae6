import { readClosing } from "./closing.js";
import type { JournalEntry, JournalKind } from "./journal.js";
import { actIn } from "./proposal.js";
import { readFigure } from "./reserve.js";
import type { NairobiDay } from "./values/nairobi-day.js";

/** What a row of the journal says besides its posting, as columns. */
export interface RowContent {
  /** What a figure is about, for which day's end it holds, and what shows it. */
  readonly place?: string | undefined;
  readonly asOfDay?: NairobiDay | undefined;
  readonly evidence?: string | undefined;
  /**
   * An amount that no posting moves: the figure of a place, what moved between two places, or what
   * somebody proposes.
   */
  readonly statedCents?: number | undefined;
  /** Into the rail's account, or out of it. */
  readonly direction?: "in" | "out" | undefined;
  /** The receipt of the movement that the row corrects, or the id of its transaction. */
  readonly movement?: string | undefined;
  /** What no other column says. Of a proposal the name of its act. */
  readonly detail?: string | undefined;
}

type ReadContent = (detail: string) => RowContent;

/** The fields of an act that are columns. */
interface ActColumns extends Omit<RowContent, "statedCents" | "detail"> {
  readonly name: string;
  readonly amountCents?: number | undefined;
}

const actOf = (detail: string): ActColumns => actIn(detail) as unknown as ActColumns;

/** The posting has the amount, and a column of its own the receipt. */
const ofCorrection: ReadContent = (detail) => {
  const { direction, movement } = actOf(detail);
  return { direction, movement };
};
const ofProposal: ReadContent = (detail) => {
  const { name, amountCents: statedCents, place, asOfDay, evidence, direction, movement } = actOf(detail);
  return { statedCents, place, asOfDay, evidence, direction, movement, detail: name };
};
const asItIs: ReadContent = (detail) => ({ detail });

/** What the detail says, by the kind of the row. `asItIs` is that of all other kinds. */
const CONTENTS: Readonly<Partial<Record<JournalKind, ReadContent>>> = {
  "book.proposed": ofProposal,
  "transaction.resolution_proposed": ofProposal,
  "book.covered": ofCorrection,
  "book.recovered": ofCorrection,
  "book.allocated": ofCorrection,
  "book.returned": ofCorrection,
  "book.received": ofCorrection,
  "book.paid": ofCorrection,
  "book.adjusted": ofCorrection,
  "book.funded": ofCorrection,
  "book.transferred": (detail) => ({ ...ofCorrection(detail), statedCents: actOf(detail).amountCents }),
  "charge.recorded": (detail) => ({ direction: detail.startsWith("in ") ? "in" : "out" }),
  "limits.set": (detail) => ({ detail: (JSON.parse(detail) as readonly [person: string, limits: string])[1] }),
  "month.closed": (detail) => {
    const { month, lastSeq } = readClosing(detail);
    return { detail: `${month}, up to row ${String(lastSeq)}` };
  },
  "reserve.place_set": (detail) => {
    const [place, form] = JSON.parse(detail) as readonly [place: string, form: string];
    return { place, detail: form };
  },
  "reserve.recorded": (detail) => {
    const { amountCents: statedCents, place, asOfDay, evidence, kind, documentSha256, maturesOn } = readFigure(detail);
    const terms = [kind, documentSha256 && `document ${documentSha256}`, maturesOn && `matures ${maturesOn}`];
    return { statedCents, place, asOfDay, evidence, detail: terms.filter((term) => term !== undefined).join(", ") };
  },
};

/** Returns what a row says besides its posting. Rows without a detail say no more. */
export function contentOfRow({ kind, detail }: Pick<JournalEntry, "kind" | "detail">): RowContent {
  return detail === undefined ? {} : (CONTENTS[kind] ?? asItIs)(detail);
}
