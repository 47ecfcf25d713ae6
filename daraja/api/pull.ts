import { nairobi } from "../mpesa/nairobi-time.js";
import type { Receipt } from "../mpesa/order.js";
import { apiShortcodeOf, isTill, nextForm, type Organization } from "../mpesa/organization.js";
import type { Answer, Call, Context } from "./context.js";
import { checkShortcode } from "./fields.js";
import { Problem } from "./problem.js";

/** Such as 1,700.00. */
const TWO_DECIMALS = { minimumFractionDigits: 2 };
const NOT_REGISTERED = "Bad Request - ShortCode is not registered for Pull Transactions";
const PAGE_ROWS = 100;
const LISTED_MILLIS = 48 * 3_600_000;
const FOUND = { ResponseCode: "1000", ResponseMessage: "Success" };
// The words are the same for a list that is empty and for a shortcode that was never provisioned.
const NONE_FOUND = {
  ResponseCode: "1001",
  ResponseMessage: "No records found or Organization Name not available",
};

/** Pull Transactions: lists of what came in, for shortcodes that registered for them. */
export class Pull {
  readonly #registered = new Set<string>();

  /** POST /pulltransactions/v1/register */
  register({ organization, fields }: Call, { ids }: Context): Answer {
    const { shortcode } = organization;
    checkShortcode(organization, fields, "ShortCode");
    fields.text("RequestType", /^Pull$/i);
    fields.msisdn("NominatedNumber");
    fields.url("CallBackURL");
    const isNew = !this.#registered.has(shortcode);
    this.#registered.add(shortcode);
    // Safaricom's page has the names without blanks, its answers were seen to have them.
    const blank = nextForm(organization) === 0 ? "" : " ";
    const body = {
      ResponseRefID: ids.originatorConversation(),
      [`Response${blank}Status`]: isNew ? "1000" : "1001",
      ShortCode: apiShortcodeOf(organization),
      [`Response${blank}Description`]: isNew ? "Shortcode Registered Successfully" : "ShortCode already Registered",
    };
    return { body };
  }

  /**
   * POST /pulltransactions/v1/query: what customers paid in during the last 48 hours, 100 rows a
   * page. What the organization's bank paid in is on the statement alone.
   */
  list({ organization, fields }: Call, { clock, ids, mpesa }: Context): Answer {
    const { shortcode } = organization;
    checkShortcode(organization, fields, "ShortCode");
    const startMillis = Math.max(fields.dateMillis("StartDate"), clock.nowMillis() - LISTED_MILLIS);
    const endMillis = fields.dateMillis("EndDate");
    const offset = Number(fields.text("OffSetValue", /^\d{1,6}$/));
    // An empty list would look like a night without payments.
    if (!this.#registered.has(shortcode)) throw new Problem(400, "400.002.02", NOT_REGISTERED);
    const rows = organization.isPullProvisioned
      ? mpesa.receipts
          .filter((receipt) => receipt.shortcode === shortcode && isListed(receipt, organization, clock.nowMillis()))
          .filter(({ atMillis }) => startMillis <= atMillis && atMillis <= endMillis)
      : [];
    const counted = organization.pullOffset === "rows" ? 1 : PAGE_ROWS;
    const page = rows.slice(offset * counted, offset * counted + PAGE_ROWS);
    const body = {
      ResponseRefID: ids.request(),
      ...(page.length > 0 ? FOUND : NONE_FOUND),
      ...(organization.pullOffset === "pages" ? { TotalPages: Math.ceil(rows.length / PAGE_ROWS) } : {}),
      // The real rail nests the rows in a second array.
      Response: [page.map((receipt) => pulledRow(receipt, organization))],
    };
    return { body };
  }
}

function isListed(
  { direction, isSettlement, atMillis, scenario }: Receipt,
  organization: Organization,
  nowMillis: number,
): boolean {
  const lagMillis = Math.max(organization.pullLagMillis, scenario?.lateMillis ?? 0);
  return direction === "IN" && isSettlement !== true && atMillis + lagMillis <= nowMillis;
}

function pulledRow(receipt: Receipt, organization: Organization): object {
  const { number, atMillis, msisdn, amountCents, accountReference, scenario } = receipt;
  const { extraCents = 0, accountReference: shownReference = accountReference } = scenario?.listed ?? {};
  const { year, month, day, hour, minute, second } = nairobi(atMillis);
  const shillings = (amountCents + extraCents) / 100;
  return {
    transactionId: number,
    trxDate: `${year}-${month}-${day}T${hour}:${minute}:${second}${organization.pullTimes}`,
    msisdn: Number(msisdn),
    sender: "MPESA",
    transactiontype: isTill(organization) ? "c2b-buy-goods-debit" : "c2b-pay-bill-debit",
    billreference: shownReference,
    amount: nextForm(organization) === 0 ? shillings.toFixed(1) : shillings.toLocaleString("en", TWO_DECIMALS),
    organizationname: "Simulated Business",
  };
}
