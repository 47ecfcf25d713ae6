import { constants, privateDecrypt } from "node:crypto";

import { INITIATOR_KEY } from "../access/initiator-key.js";
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
    return organization.lacksInitiatorRole ? "21" : undefined;
  }
  organization.wrongPasswords += 1;
  return "2001";
}

const BYTES = 256;

/** The password in a SecurityCredential; undefined where it was not encrypted for our key. */
function decryptedPassword(securityCredential: string): string | undefined {
  const encrypted = Buffer.from(securityCredential, "base64");
  if (encrypted.length !== BYTES) return undefined;
  // Node 20 refuses to decrypt with RSA_PKCS1_PADDING (CVE-2023-46809), so we remove it here.
  try {
    return withoutPadding(privateDecrypt({ key: INITIATOR_KEY, padding: constants.RSA_NO_PADDING }, encrypted));
  } catch {
    // The number is larger than the modulus of our key.
    return undefined;
  }
}

/** PKCS #1 v1.5: 0, 2, at least eight other bytes than 0, 0, the message. */
function withoutPadding(block: Buffer): string | undefined {
  const end = block.indexOf(0, 2);
  return block[0] === 0 && block[1] === 2 && end >= 10 ? block.subarray(end + 1).toString("utf8") : undefined;
}
