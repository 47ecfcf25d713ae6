import { isStamp, parsedDate } from "../mpesa/nairobi-time.js";
import { apiShortcodeOf, type Organization } from "../mpesa/organization.js";
import { badRequest } from "./problem.js";

const MSISDN = /^254[17]\d{8}$/;
const FORBIDDEN_IN_URLS = /mpesa|safaricom|exe|cmd|sql|query|ngrok/i;
const LOOPBACK = /^(127\.0\.0\.1|localhost|\[::1\])$/;
/** Addresses of private networks, and names that no public server has: those of containers. */
const PRIVATE =
  /^(10\.\d+|192\.168|172\.(1[6-9]|2\d|3[01]))\.\d+\.\d+$|^\[f[cd]|^[^.:]+$|\.(internal|local|localhost|test)$/;
/** The list of refused requests does not show what they hold. */
const SECRETS = /^(Password|SecurityCredential)$/;
const SHOWN_CHARACTERS_MAX = 60;

/**
 * Reads the fields of a request as strictly as Daraja does. Numbers and texts are the same to it.
 * Throws the Problem 400.002.02, which names the field.
 */
export class Fields {
  readonly body: Readonly<Record<string, unknown>>;
  readonly #httpCallbacks: Organization["httpCallbacks"];

  constructor(body: Readonly<Record<string, unknown>>, { httpCallbacks }: Pick<Organization, "httpCallbacks">) {
    this.body = body;
    this.#httpCallbacks = httpCallbacks;
  }

  /** Whether the field has a value. Null is none. */
  has(name: string): boolean {
    return this.body[name] !== undefined && this.body[name] !== null;
  }

  /** `called` is the name in the error, where it differs. */
  text(name: string, pattern: RegExp, called = name): string {
    const value = this.body[name];
    const text = typeof value === "number" ? String(value) : value;
    if (typeof text !== "string" || !pattern.test(text)) {
      throw badRequest(called, this.#rule(name, `must match ${String(pattern)}`));
    }
    return text;
  }

  /** The fields of an object in the field. */
  object(name: string): Fields {
    const value = this.body[name];
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw badRequest(name, this.#rule(name, "must be an object"));
    }
    return new Fields(value as Readonly<Record<string, unknown>>, { httpCallbacks: this.#httpCallbacks });
  }

  /** Empty where the field is missing. */
  optionalText(name: string, pattern: RegExp): string {
    return this.has(name) ? this.text(name, pattern) : "";
  }

  /** Whole shillings above zero, as cents. */
  amountCents(): number {
    const cents = Number(this.text("Amount", /^\d{1,9}$/)) * 100;
    if (cents === 0) throw badRequest("Amount", "Amount must be above 0");
    return cents;
  }

  msisdn(name: string): string {
    return this.text(name, MSISDN);
  }

  stamp(name: string): string {
    const text = this.text(name, /^\d{14}$/);
    if (!isStamp(text)) throw badRequest(name, this.#rule(name, "must be a time that exists"));
    return text;
  }

  dateMillis(name: string): number {
    const millis = parsedDate(this.text(name, /./));
    if (millis === undefined) throw badRequest(name, this.#rule(name, "must be a date that exists"));
    return millis;
  }

  /**
   * HTTPS, without the words that Safaricom forbids. HTTP is for the loopback, and for private
   * addresses where the setting says so.
   */
  url(name: string): string {
    const text = this.text(name, /^https?:\/\/\S+$/);
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || FORBIDDEN_IN_URLS.test(text)) {
      throw badRequest(name, this.#rule(name, `must be a URL, without ${FORBIDDEN_IN_URLS.source}`));
    }
    if (url.protocol === "http:" && !this.#takesHttpTo(url.hostname)) {
      const where = this.#httpCallbacks === "private" ? "a private address" : "the loopback (setting http_callbacks)";
      throw badRequest(name, this.#rule(name, `must be HTTPS, or HTTP to ${where}`));
    }
    return text;
  }

  #takesHttpTo(hostname: string): boolean {
    return LOOPBACK.test(hostname) || (this.#httpCallbacks === "private" && PRIVATE.test(hostname));
  }

  /** Such as 'Amount must match /^\d{1,9}$/, and is "1.50"'. */
  #rule(name: string, must: string): string {
    const value = SECRETS.test(name) ? "not shown" : this.has(name) ? JSON.stringify(this.body[name]) : "absent";
    return `${name} ${must}, and is ${value.slice(0, SHOWN_CHARACTERS_MAX)}`;
  }
}

/** Throws the Problem unless the field has the number by which the APIs know the organization. */
export function checkShortcode(
  organization: Organization,
  fields: Fields,
  name: "ShortCode" | "PartyA" | "ReceiverParty" | "shortcode",
): void {
  const expected = apiShortcodeOf(organization);
  if (fields.text(name, /^\d{5,7}$/) !== expected) throw badRequest(name, `${name} must be ${expected}`);
}
