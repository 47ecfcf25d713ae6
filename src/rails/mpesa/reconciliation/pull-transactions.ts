import { toUnixMillis, type UnixMillis } from "../../../domain/values/time.js";
import { asCode, asFields, asList, asText, type Fields } from "../../fields.js";
import type { RailPeriod, ReceivedPayment, ReceivedPayments } from "../../rail.js";
import type { DarajaAnswer, DarajaClient } from "../daraja/client.js";
import { readAmount, readPartyPhone, readReceipt, responseCodeOf } from "../messages.js";
import { nairobiDateTime } from "../nairobi-time.js";
import { transactionEndOf } from "../stk.js";

const PATH = "/pulltransactions/v1/query";
const REGISTER_PATH = "/pulltransactions/v1/register";
// Of a list: with rows, without. Of the registration: done, done before.
const FOUND = "1000";
const NONE_FOUND = "1001";
const PAGES_MAX = 1_000;
const WITH_OFFSET = /(Z|[+-]\d{2}:\d{2})$/;

/** Registers the shortcode for Pull Transactions. Returns the code of a failure. */
export async function registerForPulls(
  client: DarajaClient,
  { shortcode, msisdn, callbackUrl }: { shortcode: string; msisdn: string; callbackUrl: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const request = { ShortCode: shortcode, RequestType: "Pull", NominatedNumber: msisdn, CallBackURL: callbackUrl };
  const answer = await client.post(REGISTER_PATH, request, signal);
  if (answer.kind !== "answered") return answer.code;
  const status = asCode(answer.body["ResponseStatus"]);
  return answer.isOk && (status === FOUND || status === NONE_FOUND) ? undefined : (status ?? answer.code);
}

/**
 * Lists every payment that M-Pesa received for the shortcode in the period, page by page. M-Pesa
 * lists the last 48 hours at most, says the portal.
 */
export async function pullTransactions(
  client: DarajaClient,
  { shortcode, period }: { shortcode: string; period: RailPeriod },
  signal: AbortSignal,
): Promise<ReceivedPayments> {
  const byReceipt = new Map<string, ReceivedPayment>();
  let offset = 0;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const answer = await client.post(PATH, requestOf(shortcode, period, offset), signal);
    const rows = rowsOf(answer);
    if (rows.kind === "failed") return rows;
    const before = byReceipt.size;
    for (const payment of rows.payments) byReceipt.set(payment.receipt, payment);
    // A page with nothing new is the end, also for a rail that repeats its last page for ever.
    if (byReceipt.size === before) return { kind: "complete", payments: [...byReceipt.values()] };
    offset += rows.payments.length;
  }
  return { kind: "failed", code: "TOO_MANY_PAGES" };
}

function requestOf(shortcode: string, { from, to }: RailPeriod, offset: number): Fields {
  return {
    ShortCode: shortcode,
    StartDate: nairobiDateTime(from),
    EndDate: nairobiDateTime(to),
    OffSetValue: String(offset), // It counts rows.
  };
}

function rowsOf(answer: DarajaAnswer): ReceivedPayments {
  if (answer.kind !== "answered") return { kind: "failed", code: answer.code };
  const { isOk, code, body } = answer;
  const responseCode = responseCodeOf(body);
  if (isOk && responseCode === NONE_FOUND) return { kind: "complete", payments: [] };
  if (!isOk || responseCode !== FOUND) return { kind: "failed", code: responseCode ?? code };
  // The rows lie in a list in a list.
  const payments = asList(body["Response"]).flatMap(asList).map(paymentOf);
  return payments.includes(undefined)
    ? { kind: "failed", code: "MALFORMED_ANSWER" }
    : { kind: "complete", payments: payments.filter((payment) => payment !== undefined) };
}

function paymentOf(row: unknown): ReceivedPayment | undefined {
  const fields = asFields(row);
  const receipt = readReceipt(asText(fields?.["transactionId"]));
  const { amountCents } = readAmount(asText(fields?.["amount"]));
  if (fields === undefined || receipt === undefined || amountCents === undefined) return undefined;
  return {
    receipt,
    amountCents,
    // The AccountReference of the STK push, or what the payer typed.
    idEnd: transactionEndOf(asText(fields["billreference"])),
    phone: readPartyPhone(asText(fields["msisdn"])),
    receivedAt: timeOf(asText(fields["trxDate"]) ?? ""),
  };
}

/** Safaricom does not say in which time zone a time without an offset is. */
function timeOf(text: string): UnixMillis | undefined {
  const millis = WITH_OFFSET.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(millis) ? undefined : toUnixMillis(millis);
}
