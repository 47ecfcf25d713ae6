import type { OrganizationId } from "../../../domain/values/ids.js";
import { type Parsed, parsed, unparsed } from "../../../domain/values/parsed.js";
import type { UnixMillis } from "../../../domain/values/time.js";
import type { Timestamp } from "../../../gen/google/protobuf/timestamp.js";
import { type History, positionOf } from "../../../statements/as-of.js";
import { isFinal, parsePeriod, type RangeText } from "../../../statements/period.js";
import type { AsOf, HistoryReads, InTurn, Position } from "../../../statements/ports.js";
import type { ListCaller, ListRefusal, ListTurns, PageCost } from "../../calls/list-turns.js";
import { refuse, type RpcResult } from "../../calls/rpc-result.js";
import type { AnyRefusal } from "../../errors/refusal.js";
import { parseMoment } from "../../messages/timestamp.js";

/** A read of the past is refused: it did not get its turn, or the book has no such point. */
export class RefusedReadError extends Error {
  readonly refusal: AnyRefusal;

  constructor(refusal: AnyRefusal) {
    super(refusal.reason);
    this.refusal = refusal;
  }
}

interface ReadHistory {
  /** The organization whose past is read. */
  readonly organizationId: OrganizationId;
  readonly caller: ListCaller;
  readonly listTurns: ListTurns;
  readonly reads: HistoryReads;
}

/**
 * Runs `work`, whose reads of the past take the turns of lists. A read that gets no turn ends the
 * call with the refusal.
 */
export async function readingHistory<Response>(
  { organizationId, caller, listTurns, reads }: ReadHistory,
  work: (history: History) => Promise<RpcResult<Response>>,
): Promise<RpcResult<Response>> {
  try {
    return await work({ organizationId, reads, inTurn: inTurnOf((read) => listTurns.page(caller, read)) });
  } catch (error) {
    if (error instanceof RefusedReadError) return refuse(error.refusal);
    throw error;
  }
}

/** Reads a page at its turn, or is refused. */
type PageInTurn = <Read extends PageCost>(read: () => Promise<Read>) => Promise<Read | ListRefusal>;

/** Lets reads take the turns of lists. A read that gets no turn rejects with a RefusedReadError. */
export function inTurnOf(pageInTurn: PageInTurn): InTurn {
  return async (read) => {
    const page = await pageInTurn(async () => {
      const { result, lookedAt } = await read();
      return { rows: [result], nextBeforeSeq: undefined, lookedAt };
    });
    if ("reason" in page) throw new RefusedReadError(page);
    const [result] = page.rows;
    return result as Awaited<ReturnType<typeof read>>["result"];
  };
}

/** Reads the row of a point in the past. Rejects for a sequence that no row has yet. */
export async function positionAt(history: History, asOf: AsOf): Promise<Position> {
  const position = await positionOf(history, asOf);
  if (!("seq" in asOf) || asOf.seq <= position.seq) return position;
  const message = `must be at most ${String(position.seq)}, the sequence of the last row of the book`;
  const field = { field: "as_of_sequence", message, code: "OUT_OF_RANGE" } as const;
  throw new RefusedReadError({ reason: "INVALID_FIELD", fields: [field] });
}

/** Parses the time of a point in the past. It must be final. */
function parseAsOfTime(unchecked: Timestamp | undefined, now: UnixMillis): Parsed<UnixMillis | undefined> {
  const moment = parseMoment(unchecked);
  if (!moment.ok || moment.value === undefined || isFinal(moment.value, now)) return moment;
  return unparsed("must be at least 60 seconds ago", "OUT_OF_RANGE");
}

/** Parses the sequence of a point in the past. */
export function parseAsOfSequence(
  unchecked: bigint | undefined,
  time: Timestamp | undefined,
): Parsed<number | undefined> {
  if (unchecked === undefined) return parsed(undefined);
  if (time !== undefined) return unparsed("must be absent if as_of_time is given", "CONFLICT");
  return unchecked > 0n && unchecked <= BigInt(Number.MAX_SAFE_INTEGER)
    ? parsed(Number(unchecked))
    : unparsed("must be 1 or more", "OUT_OF_RANGE");
}

/** The kinds of the fields that name a point in the past. */
interface AsOfKinds {
  readonly as_of_sequence: (
    unchecked: bigint | undefined,
    request: { readonly as_of_time?: Timestamp | undefined },
  ) => Parsed<number | undefined>;
  readonly as_of_time: (unchecked: Timestamp | undefined) => Parsed<UnixMillis | undefined>;
}

export function asOfKinds(now: () => UnixMillis): AsOfKinds {
  return {
    as_of_sequence: (sequence, { as_of_time: time }) => parseAsOfSequence(sequence, time),
    as_of_time: (time) => parseAsOfTime(time, now()),
  };
}

/** The kinds of the ends of a period, which must be there. */
export function periodKinds(
  now: () => UnixMillis,
): Readonly<Record<"start" | "end", (unchecked: string, period: RangeText) => Parsed<UnixMillis>>> {
  return {
    end: (_, period) => parsePeriod(period, now()).end,
    start: (_, period) => parsePeriod(period, now()).start,
  };
}

/** Returns the point in the past that a request names, or undefined for now. */
export function asOfOf(point: {
  readonly asOfTime: UnixMillis | undefined;
  readonly asOfSequence: number | undefined;
}): AsOf | undefined {
  const { asOfTime: before, asOfSequence: seq } = point;
  if (before !== undefined) return { before };
  return seq === undefined ? undefined : { seq };
}
