import { constants, publicEncrypt } from "node:crypto";

/**
 * Encrypts the initiator's password with Daraja's certificate, as the fields SecurityCredential
 * need it. Throws if the certificate is none. The result can be used for many requests.
 */
export function securityCredential(initiatorPassword: string, certificatePem: string): string {
  // Daraja accepts this padding only.
  const key = { key: certificatePem, padding: constants.RSA_PKCS1_PADDING };
  return publicEncrypt(key, Buffer.from(initiatorPassword)).toString("base64");
}
