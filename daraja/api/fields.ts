import { isStamp, parsedDate } from "../mpesa/nairobi-time.js";
import { apiShortcodeOf, type Organization } from "../mpesa/organization.js";
import { badRequest } from "./problem.js";

const MSISDN = /^254[17]\d{8}$/;
const FORBIDDEN_IN_URLS = /mpesa|safaricom|exe|cmd|sql|query|ngrok/i;
const LOOPBACK = /^(127\.0\.0\.1|localhost|\[::1\])$/;

/**
 * Reads the fields of a request as strictly as Daraja does. Numbers and texts are the same to it.
 * Throws the Problem 400.002.02, which names the field.
 */
export class Fields {
  readonly body: Readonly<Record<string, unknown>>;

  constructor(body: Readonly<Record<string, unknown>>) {
    this.body = body;
  }

  /** `called` is the name in the error, where it differs. */
  text(name: string, pattern: RegExp, called = name): string {
    const value = this.body[name];
    const text = typeof value === "number" ? String(value) : value;
    if (typeof text !== "string" || !pattern.test(text)) throw badRequest(called);
    return text;
  }

  /** Empty where the field is missing. */
  optionalText(name: string, pattern: RegExp): string {
    return this.body[name] === undefined ? "" : this.text(name, pattern);
  }

  /** Whole shillings above zero, as cents. */
  amountCents(): number {
    const cents = Number(this.text("Amount", /^\d{1,9}$/)) * 100;
    if (cents === 0) throw badRequest("Amount");
    return cents;
  }

  msisdn(name: string): string {
    return this.text(name, MSISDN);
  }

  stamp(name: string): string {
    const text = this.text(name, /^\d{14}$/);
    if (!isStamp(text)) throw badRequest(name);
    return text;
  }

  dateMillis(name: string): number {
    const millis = parsedDate(this.text(name, /./));
    if (millis === undefined) throw badRequest(name);
    return millis;
  }

  /** HTTPS, without the words that Safaricom forbids. HTTP is for the loopback alone. */
  url(name: string): string {
    const text = this.text(name, /^https?:\/\/\S+$/);
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || FORBIDDEN_IN_URLS.test(text)) throw badRequest(name);
    if (url.protocol === "http:" && !LOOPBACK.test(url.hostname)) throw badRequest(name);
    return text;
  }
}

/** Throws the Problem unless the field has the number by which the APIs know the organization. */
export function checkShortcode(
  organization: Organization,
  fields: Fields,
  name: "ShortCode" | "PartyA" | "ReceiverParty",
): void {
  if (fields.text(name, /^\d{5,7}$/) !== apiShortcodeOf(organization)) throw badRequest(name);
}
