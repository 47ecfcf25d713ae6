import type { Callback } from "./api/callbacks.js";
import { newest } from "./api/control.js";
import type { RefusedRequest } from "./api/router.js";
import { documentOf, escaped } from "./html.js";
import type { Mpesa } from "./mpesa/mpesa.js";
import { nairobi } from "./mpesa/nairobi-time.js";
import type { Order } from "./mpesa/order.js";
import { BY_HAND, COLLECT, PAY_OUT } from "./mpesa/scenarios.js";
import { PAY_PATH } from "./pay-page.js";

type Row = readonly (string | number)[];

/** A page that shows what the simulator holds. It loads itself again every two seconds. */
export function pageOf(
  mpesa: Mpesa,
  callbacks: readonly Callback[],
  refusedRequests: readonly RefusedRequest[],
  nowMillis: number,
): string {
  return documentOf({
    head: '<meta http-equiv="refresh" content="2">',
    body: `<h1>Daraja simulator</h1>
<p>Pretended shillings at ${time(nowMillis)} in Nairobi. The last two digits of a phone number choose what happens.</p>
<p><a href="${PAY_PATH}">Pay this paybill by hand</a></p>
${organizationsTable(mpesa)}
${ordersTable(mpesa)}
${receiptsTable(mpesa)}
${refusedTable(mpesa)}
${refusedRequestsTable(refusedRequests)}
${callbacksTable(callbacks)}
${customersTable(mpesa)}
${table("Scenarios", ["The phone ends in", "STK push", "B2C", "Without a prompt"], scenarioRows())}`,
  });
}

function organizationsTable(mpesa: Mpesa): string {
  return table(
    "Organizations",
    ["Shortcode", "Store number", "Working", "Utility", "Merchant", "Charges paid"],
    mpesa.organizations.map((one) => [
      one.shortcode,
      one.storeNumber ?? "",
      kes(one.workingCents),
      kes(one.utilityCents),
      kes(one.merchantCents),
      kes(one.chargesCents),
    ]),
  );
}

function ordersTable(mpesa: Mpesa): string {
  return table(
    "Orders",
    ["Accepted", "Direction", "Phone", "KES", "Id", "Scenario", "Queries", "Outcome"],
    newest(mpesa.orders).map((order) => [
      time(order.acceptedAtMillis),
      order.direction,
      order.msisdn,
      kes(order.amountCents),
      order.direction === "IN" ? order.checkoutRequestId : order.originatorConversationId,
      order.scenario.words,
      order.queries,
      outcomeWords(order),
    ]),
  );
}

function receiptsTable(mpesa: Mpesa): string {
  return table(
    "Receipts",
    ["Time", "Receipt", "Direction", "Shortcode", "Phone", "KES", "Account", "Reverses"],
    newest(mpesa.receipts).map((receipt) => [
      time(receipt.atMillis),
      receipt.number,
      receipt.direction,
      receipt.shortcode,
      receipt.msisdn,
      kes(receipt.amountCents),
      receipt.accountReference,
      receipt.reversedReceipt ?? "",
    ]),
  );
}

function refusedTable(mpesa: Mpesa): string {
  return table(
    "Refused payments",
    ["Time", "Shortcode", "Phone", "KES", "Account", "Code"],
    newest(mpesa.refused).map((payment) => [
      time(payment.atMillis),
      payment.organization.shortcode,
      payment.msisdn,
      kes(payment.amountCents),
      payment.accountReference,
      payment.code,
    ]),
  );
}

function refusedRequestsTable(refused: readonly RefusedRequest[]): string {
  return table(
    "Refused requests",
    ["Time", "Path", "Status", "Code", "Answer", "Rule"],
    newest(refused).map((one) => [time(one.atMillis), one.path, one.status, one.errorCode, one.errorMessage, one.rule]),
  );
}

function callbacksTable(callbacks: readonly Callback[]): string {
  return table(
    "Callbacks",
    ["Sent", "Address", "Answer", "Forged", "Body"],
    newest(callbacks).map(({ sentAtMillis, url, status, isForged, body }) => [
      time(sentAtMillis),
      url,
      status ?? "none",
      isForged ? "yes" : "no",
      body,
    ]),
  );
}

function customersTable(mpesa: Mpesa): string {
  return table(
    "Customers",
    ["Phone", "KES"],
    newest(mpesa.subscribers).map(({ msisdn, balanceCents }) => [msisdn, kes(balanceCents)]),
  );
}

/** An ending, and what it does to an STK push, a B2C payment and a payment without a prompt. */
export function scenarioRows(): [ending: string, collect: string, payOut: string, byHand: string][] {
  const endings = [...new Set([COLLECT, PAY_OUT, BY_HAND].flatMap((scenarios) => Object.keys(scenarios)))].sort();
  const wordsOf = (scenarios: typeof COLLECT | typeof BY_HAND, ending: string): string =>
    scenarios[ending]?.words ?? "success";
  return endings.map((ending) => [
    ending,
    wordsOf(COLLECT, ending),
    wordsOf(PAY_OUT, ending),
    wordsOf(BY_HAND, ending),
  ]);
}

function outcomeWords({ outcome }: Order): string {
  if (outcome === undefined) return "open";
  return outcome.receipt === undefined ? `${outcome.code} ${outcome.status}` : `0 ${outcome.receipt.number}`;
}

function table(title: string, head: readonly string[], rows: readonly Row[]): string {
  const cells = (tag: string, row: Row): string =>
    `<tr>${row.map((cell) => `<${tag}>${escaped(String(cell))}</${tag}>`).join("")}</tr>`;
  return `<h2>${title}</h2>\n<table>${cells("th", head)}\n${rows.map((row) => cells("td", row)).join("\n")}</table>`;
}

function time(millis: number): string {
  const { year, month, day, hour, minute, second } = nairobi(millis);
  return `${year}-${month}-${day} ${hour}:${minute}:${second}`;
}

function kes(cents: number): string {
  return (cents / 100).toFixed(2);
}
