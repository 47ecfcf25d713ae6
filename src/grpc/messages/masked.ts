import { maskPhone, maskWords, shownPhone } from "../../domain/values/masked-phone.js";
import { parsePhoneNumber } from "../../domain/values/phone-number.js";

// A CheckoutRequestID of M-Pesa ends with nine digits of the payer's phone number.
const REQUEST_OF_PAYER = /(?<=ws_CO_[0-9]+)[0-9]{6}(?=[0-9]{3}(?![0-9]))/g;

/** The fields of responses that hold personal data in full, and what operators see of them. */
export const MASKS: Readonly<Record<string, (text: string) => string>> = {
  phone_number: maskedPhoneOf,
  email: maskedEmail,
  // A wrong number of 8 digits is no personal data, and shows a slip.
  typed_reference: maskWords,
  rail_reference: maskedRequest,
  body: maskedRequest,
};

/**
 * Returns a copy of a response in which most of each phone number and e-mail address is hidden:
 * "+254******678", "a***@example.com". It looks at every message inside, so no rpc can forget it.
 */
export function masked<Message>(message: Message): Message {
  return copyOf(message) as Message;
}

function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isMessage(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, of]) => {
      const mask = typeof of === "string" ? MASKS[name] : undefined;
      return [name, mask === undefined ? copyOf(of) : mask(of as string)];
    }),
  );
}

/** Maps, bytes and the like hold no message. */
function isMessage(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function maskedPhoneOf(text: string): string {
  const phone = parsePhoneNumber(text);
  return phone.ok ? shownPhone(maskPhone(phone.value)) : hidden(text);
}

function maskedEmail(text: string): string {
  const at = text.lastIndexOf("@");
  return at < 1 ? hidden(text) : `${text.slice(0, 1)}***${text.slice(at)}`;
}

function maskedRequest(text: string): string {
  return text.replaceAll(REQUEST_OF_PAYER, "******");
}

function hidden(text: string): string {
  return "*".repeat(Math.min(text.length, 3));
}
