import { toUnixMillis } from "../../../domain/values/time.js";
import { asCode, asFields, asList, asText, type Fields } from "../../fields.js";
import { millisOfNairobi, nairobiDateTime } from "../../nairobi-time.js";
import type {
  Faulty,
  RailPeriod,
  ReceivedPayment,
  ReceivedPayments,
  UncreditedRow,
  UnreadableRow,
} from "../../rail.js";
import { storedCode } from "../../told-code.js";
import { NO_CODE, readAnswer } from "../answers.js";
import type { DarajaAnswer, DarajaClient } from "../daraja/client.js";
import { faultOf, readAmount, readPartyPhone, readReceipt, responseCodeOf } from "../messages.js";
import { transactionEndOf } from "../stk.js";

export const PULL_PATH = "/pulltransactions/v1/query";
const REGISTER_PATH = "/pulltransactions/v1/register";
// Of a list: with rows, without. Of the registration: done, done before.
const FOUND = "1000";
const NONE_FOUND = "1001";
const ALREADY_REGISTERED = /already registered/i;
const REQUESTS_MAX = 1_000;
const SECOND_MILLIS = 1_000;

/** M-Pesa's words for what a customer has paid. Only these credit somebody. */
const PAYMENT_KINDS: readonly string[] = ["c2b-pay-bill-debit", "c2b-buy-goods-debit"];
/** For what moved between the organization's own accounts: seen in the list of a till. */
const OWN_KINDS: readonly string[] = ["merchant-to-organization-settlement"];

/** Registers the shortcode for Pull Transactions. Returns the code of a failure. */
export async function registerForPulls(
  client: DarajaClient,
  { shortcode, msisdn, callbackUrl }: { shortcode: string; msisdn: string; callbackUrl: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const request = { ShortCode: shortcode, RequestType: "Pull", NominatedNumber: msisdn, CallBackURL: callbackUrl };
  const answer = await client.post(REGISTER_PATH, request, signal);
  if (answer.kind !== "answered") return answer.code;
  const { isOk, body, message } = answer;
  const { reading, code } = readAnswer(answer, "list");
  const status = asCode(body["ResponseStatus"]) ?? code;
  const isDone = reading === "taken" || [FOUND, NONE_FOUND, NO_CODE].includes(status);
  // Some environments acknowledge it without a code. Others call a second time an error.
  return (isOk && isDone) || ALREADY_REGISTERED.test(message)
    ? undefined
    : storedCode({ code: status, place: REGISTER_PATH });
}

/**
 * Lists every payment that M-Pesa received for the shortcode in the period, page by page. M-Pesa
 * lists the last 48 hours at most, says the portal.
 *
 * Sources differ on whether an offset counts rows or pages (docs/mpesa.md), and a list that lacks
 * payments is worse than one more request. So it is read by rows first, then by pages, and is
 * complete only if neither reading finds anything new.
 *
 * A row without a receipt or an amount does not stop the others. But if no row of several can be
 * read, M-Pesa has changed their form, and the list fails. A row of another kind than a customer's
 * payment is no payment.
 */
export async function pullTransactions(
  client: DarajaClient,
  { shortcode, period }: { shortcode: string; period: RailPeriod },
  signal: AbortSignal,
): Promise<ReceivedPayments> {
  const found = new Map<string, ListedRow>();
  let requests = 0;
  const read = async (offset: number): Promise<PaymentPage> => {
    requests += 1;
    if (requests > REQUESTS_MAX) return { kind: "failed", code: "TOO_MANY_PAGES" };
    return pageOf(await client.post(PULL_PATH, pullRequest(shortcode, period, offset), signal));
  };

  const first = await read(0);
  if (first.kind === "failed") return first;
  const byRows = await addRows(found, { first, read });
  if (byRows !== undefined) return byRows;
  const byPages = await addPages(found, { first, read });
  if (byPages !== undefined) return byPages;
  const rows = [...found.values()];
  const payments = rows.flatMap(({ payment }) => payment ?? []);
  const others = rows.flatMap(({ other }) => other ?? []);
  if (payments.length + others.length === 0 && first.rows.length > 1) return MALFORMED;
  return { kind: "complete", payments, unreadable: rows.flatMap(({ unreadable }) => unreadable ?? []), others };
}

interface ListReading {
  readonly first: ReadPage;
  readonly read: (offset: number) => Promise<PaymentPage>;
}

/** Reads on by the number of rows so far. */
async function addRows(found: Map<string, ListedRow>, { first, read }: ListReading): Promise<FailedList | undefined> {
  let offset = 0;
  let page: PaymentPage = first;
  while (page.kind === "read") {
    const before = found.size;
    for (const row of page.rows) found.set(row.key, row);
    // A page with nothing new is the end, also for a rail that repeats its last page for ever.
    if (found.size === before) return undefined;
    offset += page.rows.length;
    page = await read(offset);
  }
  return page;
}

/** Reads on by the numbers of pages, from 1. */
async function addPages(found: Map<string, ListedRow>, { first, read }: ListReading): Promise<FailedList | undefined> {
  const seen = new Set(first.rows.map(({ key }) => key));
  for (let number = 1; ; number += 1) {
    const page = await read(number);
    if (page.kind === "failed") return page;
    const before = seen.size;
    for (const row of page.rows) {
      found.set(row.key, row);
      seen.add(row.key);
    }
    const added = seen.size - before;
    // Page 1 may be the first page once more.
    const isFirst = number === 1 && added === 0 && page.rows.length > 0 && isSameSize(page, first);
    // An offset that counts rows adds at most one row a step.
    if (added <= 1 && !isFirst && number >= first.pages) return undefined;
  }
}

function isSameSize(page: ReadPage, other: ReadPage): boolean {
  return page.rows.length === other.rows.length;
}

/** Asks for one page of the list. */
export function pullRequest(shortcode: string, { from, to }: RailPeriod, offset: number): Fields {
  return {
    ShortCode: shortcode,
    StartDate: nairobiDateTime(from),
    // Up to the next whole second: a payment of this second is confirmed before the second is over.
    EndDate: nairobiDateTime(toUnixMillis(Math.ceil(to / SECOND_MILLIS) * SECOND_MILLIS)),
    OffSetValue: String(offset),
  };
}

interface ReadPage {
  readonly kind: "read";
  readonly rows: readonly ListedRow[];
  /** How many pages the list has, says the answer; 0 if it does not say so. */
  readonly pages: number;
}

/** Has a payment, is unreadable, or is of another kind. */
interface ListedRow {
  /** Tells the row from the others: its receipt. An unreadable one may lack it. */
  readonly key: string;
  readonly payment?: ReceivedPayment;
  readonly unreadable?: UnreadableRow;
  readonly other?: UncreditedRow;
}

interface FailedList extends Faulty {
  readonly kind: "failed";
  readonly code: string;
}

const MALFORMED: FailedList = { kind: "failed", code: "MALFORMED_ANSWER" };

type PaymentPage = ReadPage | FailedList;

function pageOf(answer: DarajaAnswer): PaymentPage {
  if (answer.kind !== "answered") return { kind: "failed", code: answer.code, ...faultOf(answer.fault) };
  const { isOk, code, body } = answer;
  const responseCode = responseCodeOf(body);
  if (isOk && responseCode === NONE_FOUND) return { kind: "read", rows: [], pages: 0 };
  if (!isOk || responseCode !== FOUND) return { kind: "failed", code: responseCode ?? code };
  // The rows lie in a list in a list.
  const lists = asList(body["Response"]);
  if (lists.some((list) => typeof list !== "object" || list === null)) return MALFORMED;
  return {
    kind: "read",
    rows: lists.flatMap(asList).map(rowOf),
    pages: Number(/^[0-9]{1,4}$/.exec(asText(body["TotalPages"]) ?? "")?.[0] ?? 0),
  };
}

function rowOf(row: unknown): ListedRow {
  const fields = asFields(row) ?? {};
  const receipt = readReceipt(asText(fields["transactionId"]));
  const { amountCents } = readAmount(asText(fields["amount"]));
  const time = timeOf(asText(fields["trxDate"]) ?? "");
  if (receipt === undefined || amountCents === undefined) {
    // No receipt is such a text: a row never takes the place of a payment.
    return { key: JSON.stringify([row]), unreadable: { receipt, ...time } };
  }
  const [kind = ""] = KIND.exec(asText(fields["transactiontype"])?.trim().toLowerCase() ?? "") ?? [];
  if (!PAYMENT_KINDS.includes(kind)) {
    return { key: receipt, other: { receipt, ...time, kind, isKnown: OWN_KINDS.includes(kind) } };
  }
  // The AccountReference of the STK push, or what the payer typed.
  const reference = asText(fields["billreference"]);
  const payment = {
    receipt,
    amountCents,
    reference: reference ?? "",
    idEnd: transactionEndOf(reference),
    phone: readPartyPhone(asText(fields["msisdn"])),
    ...time,
  };
  return { key: receipt, payment };
}

/** A kind is shown to people. Anything else may be personal. */
const KIND = /^(?!.*\d{4})[a-z][a-z0-9 -]{0,63}$/;
const OFFSET = /[+-]\d{2}:\d{2}$/;
/** Without an offset, or with that of UTC, which M-Pesa was seen to write with Nairobi's time. */
const DOUBTFUL = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?(Z|[+-]00:00)?$/;

function timeOf(text: string): Pick<ReceivedPayment, "receivedAt" | "doubtful"> {
  const [, day = "", clock = "", zone] = DOUBTFUL.exec(text) ?? [];
  const ifLocal = millisOfNairobi(`${day} ${clock}`);
  if (ifLocal !== undefined) {
    const ifUtc = Date.parse(`${day}T${clock}Z`);
    const saysUtc = zone !== undefined;
    return { receivedAt: undefined, doubtful: { ifUtc: toUnixMillis(ifUtc), ifLocal: toUnixMillis(ifLocal), saysUtc } };
  }
  const millis = OFFSET.test(text) ? Date.parse(text) : NaN;
  return { receivedAt: Number.isNaN(millis) ? undefined : toUnixMillis(millis) };
}
