import { nairobi, stamp } from "../mpesa/nairobi-time.js";
import type { Receipt } from "../mpesa/order.js";
import type { Callbacks } from "./callbacks.js";
import type { Answer, Call, Context } from "./context.js";
import type { Fields } from "./fields.js";
import { badRequest, Problem } from "./problem.js";

const PAGE_ROWS = 100;
const LISTED_MILLIS = 48 * 3_600_000;

/** The addresses of C2B, and who may pull transactions, by shortcode. */
export class Registrations {
  readonly confirmationUrls = new Map<string, string>();
  readonly pullers = new Set<string>();

  /** Posts a payment to the registered address. The callbacks of orders are sent besides. */
  async confirm(receipt: Receipt, callbacks: Callbacks): Promise<void> {
    const url = this.confirmationUrls.get(receipt.shortcode);
    if (url !== undefined) await callbacks.send(url, JSON.stringify(confirmationOf(receipt)));
  }
}

/** POST /mpesa/c2b/v1/registerurl and v2. Once in production, and here. */
export function registerUrls(registrations: Registrations): (call: Call, context: Context) => Answer {
  return ({ organization, fields }, { ids }) => {
    const shortcode = ownShortcode(organization.shortcode, fields);
    fields.text("ResponseType", /^(Completed|Cancelled)$/);
    const confirmationUrl = fields.url("ConfirmationURL");
    // No payment is validated: Safaricom activates validation on request alone.
    fields.url("ValidationURL");
    if (registrations.confirmationUrls.has(shortcode)) {
      throw new Problem(500, "500.003.1001", "Urls are already registered.");
    }
    registrations.confirmationUrls.set(shortcode, confirmationUrl);
    const body = {
      OriginatorCoversationID: ids.originatorConversation(),
      ResponseCode: "0",
      ResponseDescription: "Success",
    };
    return { body };
  };
}

/** POST /pulltransactions/v1/register */
export function registerPull(registrations: Registrations): (call: Call, context: Context) => Answer {
  return ({ organization, fields }, { ids }) => {
    const shortcode = ownShortcode(organization.shortcode, fields);
    fields.text("RequestType", /^Pull$/i);
    fields.msisdn("NominatedNumber");
    fields.url("CallBackURL");
    const isNew = !registrations.pullers.has(shortcode);
    registrations.pullers.add(shortcode);
    const body = {
      ResponseRefID: ids.originatorConversation(),
      ResponseStatus: isNew ? "1000" : "1001",
      ShortCode: shortcode,
      ResponseDescription: isNew ? "Shortcode Registered Successfully" : "ShortCode already Registered",
    };
    return { body };
  };
}

/** POST /pulltransactions/v1/query: what came in during the last 48 hours, 100 rows a page. */
export function pull(registrations: Registrations): (call: Call, context: Context) => Answer {
  return ({ organization, fields }, { clock, ids, mpesa }) => {
    const shortcode = ownShortcode(organization.shortcode, fields);
    const startMillis = Math.max(fields.dateMillis("StartDate"), clock.nowMillis() - LISTED_MILLIS);
    const endMillis = fields.dateMillis("EndDate");
    const offset = Number(fields.text("OffSetValue", /^\d{1,6}$/));
    if (!registrations.pullers.has(shortcode)) throw badRequest("ShortCode");
    const rows = mpesa.receipts
      .filter((receipt) => receipt.direction === "IN" && receipt.shortcode === shortcode)
      .filter(({ atMillis }) => startMillis <= atMillis && atMillis <= endMillis)
      .slice(offset, offset + PAGE_ROWS);
    const found = rows.length > 0;
    const body = {
      ResponseRefID: ids.request(),
      ResponseCode: found ? "1000" : "1001",
      ResponseMessage: found ? "Success" : "No transactions found",
      // The real rail nests the rows in a second array.
      Response: [rows.map(pulledRow)],
    };
    return { body };
  };
}

function ownShortcode(own: string, fields: Fields): string {
  const shortcode = fields.text("ShortCode", /^\d{5,7}$/);
  if (shortcode !== own) throw badRequest("ShortCode");
  return shortcode;
}

function pulledRow({ number, atMillis, msisdn, amountCents, accountReference }: Receipt): object {
  const { year, month, day, hour, minute, second } = nairobi(atMillis);
  return {
    transactionId: number,
    trxDate: `${year}-${month}-${day}T${hour}:${minute}:${second}+03:00`,
    msisdn: Number(msisdn),
    sender: "MPESA",
    transactiontype: "c2b-pay-bill-debit",
    billreference: accountReference,
    amount: (amountCents / 100).toFixed(1),
    organizationname: "Simulated Business",
  };
}

/** All values are texts, and the phone is masked. */
function confirmationOf({ number, atMillis, msisdn, amountCents, accountReference, shortcode }: Receipt): object {
  return {
    TransactionType: "Pay Bill",
    TransID: number,
    TransTime: stamp(atMillis),
    TransAmount: String(amountCents / 100),
    BusinessShortCode: shortcode,
    BillRefNumber: accountReference,
    InvoiceNumber: "",
    OrgAccountBalance: "",
    ThirdPartyTransID: "",
    MSISDN: `${msisdn.slice(0, 5)}****${msisdn.slice(-3)}`,
    FirstName: "Jane",
    MiddleName: "",
    LastName: "Doe",
  };
}
