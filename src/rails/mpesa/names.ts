import { type BusinessNumber, partsOf } from "../../domain/destination.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { asCode, asFields, asText, type Fields } from "../fields.js";
import type { NameAnswer, NamedParty } from "../rail.js";
import { readAnswer } from "./answers.js";
import type { DarajaAnswer } from "./daraja/client.js";
import type { MpesaAccount } from "./settings.js";

// Both products answer at once, and need the token alone. Their forms are those of Safaricom's
// pages "Query Org Info" (as copied on 2026-05-30) and "B2C Hakikisha" (read on 2026-09-16), in
// docs/specs of the public client kepas-tech/daraja-js. docs/mpesa.md says what is not known.

/** The name of a paybill or a till. */
const BUSINESS_NAME_PATH = "/sfcverify/v1/query/info";
/** The name of a phone's owner. The app needs an agreement with Safaricom for it. */
const PHONE_NAME_PATH = "/mpesa/b2c/hakikisha/v1/hakikisha";

const IDENTIFIER_TYPES = { PAYBILL: "4", TILL: "2" } as const;
/** Safaricom's page shows 4000 in its example, and 0 in its table. */
const TOLD = /^(0+|4000)$/;
const NAME_OF_PHONE_TOLD = "200";
const SECOND_MILLIS = 1_000;
/** As M-Pesa hides the middle and last names itself. */
const HIDDEN = "******";

/** The question for the name of a party. `id` is a UUID of the request, which only a phone has. */
export function nameRequest(
  { kind, number }: NamedParty,
  { payOutShortcode: shortcode }: Pick<MpesaAccount, "payOutShortcode">,
  { id, now }: { readonly id: string; readonly now: UnixMillis },
): { readonly path: string; readonly request: Fields } {
  if (kind === "PHONE") {
    const header = { requestID: id, timestamp: String(Math.floor(now / SECOND_MILLIS)) };
    return { path: PHONE_NAME_PATH, request: { header, body: { msisdn: number.slice(1), shortcode } } };
  }
  const { business } = partsOf(number as BusinessNumber);
  return { path: BUSINESS_NAME_PATH, request: { IdentifierType: IDENTIFIER_TYPES[kind], Identifier: business } };
}

/** Reads the answer to `nameRequest`. */
export function readName(answer: DarajaAnswer, { kind, number }: NamedParty): NameAnswer {
  if (answer.kind !== "answered") return { kind: "unanswered", code: answer.code };
  const { body } = answer;
  const told = kind === "PHONE" ? ofPhone(body) : ofBusiness(body, kind === "PAYBILL" ? number : undefined);
  if (told !== undefined) return told;
  const { reading, code } = readAnswer(answer, "name");
  const isLacking = reading === "no product" || (reading === "asked wrongly" && /^(HTTP_)?40[145]/.test(code));
  if (isLacking) return { kind: "lacking", code };
  return { kind: reading === "asked wrongly" ? "none" : "unanswered", code };
}

/** Undefined if the product itself has not answered. */
function ofBusiness(body: Fields, paybill: string | undefined): NameAnswer | undefined {
  const code = asCode(body["ResponseCode"]);
  if (code === undefined) return undefined;
  const name = asText(body["OrganizationName"]);
  const shortcode = asText(body["OrganizationShortCode"]);
  // Of a till, the shortcode may be that of its store.
  const isOther =
    paybill !== undefined && shortcode !== undefined && partsOf(paybill as BusinessNumber).business !== shortcode;
  return !TOLD.test(code) || name === undefined || isOther ? { kind: "none", code } : { kind: "told", name };
}

function ofPhone({ header, body }: Fields): NameAnswer | undefined {
  const code = asCode(asFields(header)?.["status"]);
  if (code === undefined) return undefined;
  const names = asFields(body) ?? {};
  const [first = "", ...others] = ["firstName", "middleName", "lastName"].map((name) => asText(names[name]) ?? "");
  const name = [first, ...others.map(hidden)].filter((each) => each !== "").join(" ");
  return code !== NAME_OF_PHONE_TOLD || name === "" ? { kind: "none", code } : { kind: "told", name };
}

function hidden(name: string): string {
  return name === "" || name.includes("*") ? name : `${name.slice(0, 1)}${HIDDEN}`;
}
