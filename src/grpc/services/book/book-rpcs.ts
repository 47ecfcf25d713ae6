import { BOOK_STATES, MOVE_PHASES } from "../../../domain/book.js";
import { type NairobiDay, parseNairobiDay, startOfDay } from "../../../domain/values/nairobi-day.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import * as wire from "../../../gen/kesc/admin/v1/admin_service.js";
import type { ListedBook, ListedSeal, StandingAlarm } from "../../../operators/reads.js";
import { FIGURE_ROWS, figureOf, WHOLE_BOOK } from "../../../statements/reserve-history.js";
import { houseRpc, organizationRpc } from "../../calls/admin-rpc.js";
import { pageInTurn } from "../../calls/list-turns.js";
import type { RpcRoute } from "../../calls/route.js";
import { enumOf } from "../../messages/enums.js";
import { ifGiven, joined, type ParsedFields, parseFields } from "../../messages/fields.js";
import { toReserveHolding } from "../../messages/history/supply.js";
import { toTimestamp } from "../../messages/timestamp.js";
import type { OperatorCaller } from "../acts.js";
import type { HandlersOptions } from "../operator-options.js";
import { type AskedPage, parseOwnPage, parsePage, tokenAfter } from "../pages.js";
import { formatPageToken } from "../paging.js";

const STATES = enumOf(wire.BookState, "BOOK_STATE", BOOK_STATES);
const PHASES = enumOf(wire.MovePhase, "MOVE_PHASE", MOVE_PHASES);

/** The rpcs that read books. None of them writes. */
export function bookRpcs(options: HandlersOptions): Record<string, RpcRoute> {
  return {
    listReserve: listReserve(options),
    listBooks: listBooks(options),
    listSeals: listSeals(options),
  };
}

interface AskedReserve {
  readonly asked: AskedPage;
  readonly start: NairobiDay | undefined;
  readonly end: NairobiDay | undefined;
}

function parseReserveList(request: wire.ListReserveRequest, caller: OperatorCaller): ParsedFields<AskedReserve> {
  const { start, end } = request;
  const days = parseFields({ start: ifGiven(start, parseNairobiDay), end: ifGiven(end, parseNairobiDay) });
  return joined(parseOwnPage(request, caller, "ListReserve", { start, end }), days, (asked, period) => ({
    asked,
    ...period,
  }));
}

function listReserve({ cellOf, listTurns, now }: HandlersOptions): RpcRoute {
  return organizationRpc("listReserve", {
    parse: parseReserveList,
    run: ({ asked: { list, page }, start, end }, caller) => {
      const { history } = cellOf(caller.organization);
      const { id } = caller.organization;
      return pageInTurn(
        { listTurns, caller },
        async () => {
          if (start === undefined && end === undefined) {
            const rows = await history.reserveHoldings(id);
            return { rows, lookedAt: rows.length, nextBeforeSeq: undefined };
          }
          // Nobody records a day before it has begun.
          const createdAfter = start && startOfDay(start);
          const read = await history.journal(id, { ...FIGURE_ROWS, ...WHOLE_BOOK, ...page, createdAfter });
          const rows = read.result.rows.map(figureOf).filter(({ asOfDay: day }) => {
            return (start === undefined || day >= start) && (end === undefined || day <= end);
          });
          return { rows, lookedAt: read.lookedAt, nextBeforeSeq: read.result.nextBeforeSeq };
        },
        ({ rows, nextBeforeSeq }) => ({
          reserve_holdings: rows.map((figure) => toReserveHolding(figure, toUnixMillis(now()))),
          next_page_token: formatPageToken(list, nextBeforeSeq),
        }),
      );
    },
  });
}

function listBooks({ bookReads, listTurns }: HandlersOptions): RpcRoute {
  return houseRpc("listBooks", {
    parse: (request) => parsePage(request, "ListBooks"),
    run: ({ list, page: { size, beforeSeq: begin = 0 } }, caller) =>
      pageInTurn(
        { listTurns, caller },
        async () => {
          const all = await bookReads.books();
          const rows = all.filter((book) => placeOf(book) >= begin).slice(0, size + 1);
          return { rows, lookedAt: all.length };
        },
        ({ rows }) => {
          const next = rows[size];
          return {
            books: rows.slice(0, size).map(toBook),
            next_page_token: formatPageToken(list, next && placeOf(next)),
          };
        },
      ),
  });
}

/** No cell has as many books. */
const PLACES_OF_CELL = 2 ** 32;

/** Returns the place of a book among those of all cells. A new book changes no other place. */
function placeOf({ cell, number }: ListedBook): number {
  return cell * PLACES_OF_CELL + number;
}

function listSeals(options: HandlersOptions): RpcRoute {
  const { bookReads, listTurns } = options;
  return organizationRpc("listSeals", {
    parse: (request, caller) => parseOwnPage(request, caller, "ListSeals"),
    run: (asked, caller) =>
      pageInTurn(
        { listTurns, caller },
        async () => {
          const { size, beforeSeq: beforeSize } = asked.page;
          const rows = await bookReads.seals(caller.organization, { size: size + 1, beforeSize });
          return { rows, lookedAt: rows.length, alarm: await bookReads.sealAlarm(caller.organization) };
        },
        ({ rows, alarm }) => ({
          seals: rows.slice(0, asked.page.size).map(toSeal),
          next_page_token: tokenAfter(
            rows.map(({ size: seq }) => ({ seq })),
            asked,
          ),
          alarm: alarm && toSealAlarm(alarm),
        }),
      ),
  });
}

function toBook(book: ListedBook): wire.Book {
  return {
    organization_id: book.organizationId,
    organization_name: book.name,
    cell: book.cell,
    state: STATES[book.state],
    suspended: book.isSuspended,
    last_sequence: BigInt(book.lastSeq),
    last_recorded_at: book.lastSeq === 0 ? undefined : toTimestamp(book.lastRecordedAt),
    phase: book.move && PHASES[book.move.phase],
    moved_to: book.move?.movedTo,
    changed: book.isChanged,
  };
}

function toSeal({ size, root, sealedAt }: ListedSeal): wire.Seal {
  return {
    size: BigInt(size),
    root_hash: Buffer.from(root).toString("base64"),
    sealed_at: toTimestamp(sealedAt),
  };
}

function toSealAlarm({ raisedAt, size, firstSeq, lastSeq, problem }: StandingAlarm): wire.SealAlarm {
  return {
    raised_at: toTimestamp(raisedAt),
    size: BigInt(size),
    first_sequence: BigInt(firstSeq),
    last_sequence: BigInt(lastSeq),
    problem,
  };
}
