import { decryptedPassword } from "../access/security-credential.js";
import { INITIATOR_TRIES_MAX, type Organization } from "../mpesa/organization.js";
import type { ResultCode } from "../mpesa/results.js";
import type { Fields } from "./fields.js";

const BASE64 = /^[A-Za-z0-9+/]{300,}={0,2}$/;

/**
 * Checks the initiator of a request. The gateway accepts any encrypted password; only the result
 * says that it is wrong. Returns that result's code, or undefined where all is right.
 */
export function initiatorFailure(
  organization: Organization,
  fields: Fields,
  nameField: "Initiator" | "InitiatorName",
): ResultCode | undefined {
  const name = fields.text(nameField, /./);
  const password = decryptedPassword(fields.text("SecurityCredential", BASE64));
  if (organization.wrongPasswords >= INITIATOR_TRIES_MAX) return "8006";
  if (name === organization.initiatorName && password === organization.initiatorPassword) {
    organization.wrongPasswords = 0;
    return undefined;
  }
  organization.wrongPasswords += 1;
  return "2001";
}
