import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** The most bytes of a form. */
export const FORM_BYTES_MAX = 64 * 1024;
/** The field of a form that holds its token. */
export const TOKEN_FIELD = "form_token";

/**
 * Whether a page of the console has sent the form. Browsers from before 2023 send no
 * Sec-Fetch-Site, so for them Origin decides.
 */
export function isOwnForm(headers: IncomingHttpHeaders, origin: string): boolean {
  const site = headers["sec-fetch-site"];
  return (site === undefined || site === "same-origin") && headers.origin === origin;
}

/** Returns the token of a form. Only a page of this session can have it, and nothing is stored. */
export function formToken(session: string, form: string): string {
  return createHmac("sha256", session).update(form).digest("base64url");
}

/** Whether the form has the token of this session. */
export function fitsForm(session: string, form: string, token: unknown): boolean {
  const expected = Buffer.from(formToken(session, form));
  const given = Buffer.from(typeof token === "string" ? token : "");
  return given.length === expected.length && timingSafeEqual(given, expected);
}
