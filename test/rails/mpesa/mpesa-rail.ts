import { constants, generateKeyPairSync, privateDecrypt } from "node:crypto";

import { expect } from "chai";

import { MPESA_CAPABILITIES } from "../../../src/rails/mpesa/limits.js";
import { MpesaRail } from "../../../src/rails/mpesa/mpesa.js";
import type { MpesaSettings } from "../../../src/rails/mpesa/settings.js";
import { NOW } from "../support/orders.js";

export const ACCOUNT_UUID = "01932d53-1b2e-7c3a-8f00-0123456789ab";

// Daraja holds the other half of this pair.
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });

/** The initiator's password in a SecurityCredential, as Daraja reads it. */
export function passwordIn(credential: unknown): string {
  // Node 20 does not remove this padding itself: 0, 2, bytes other than 0, 0, the message.
  const key = { key: privateKey, padding: constants.RSA_NO_PADDING };
  const block = privateDecrypt(key, Buffer.from(String(credential), "base64"));
  expect([...block.subarray(0, 2)]).to.deep.equal([0, 2]);
  return block.subarray(block.indexOf(0, 2) + 1).toString();
}

/** Settings with secrets that a test can look for. */
export function mpesaSettings(given: Partial<MpesaSettings> = {}): MpesaSettings {
  return {
    baseUrl: "http://127.0.0.1:9",
    consumerKey: "the-consumer-key",
    consumerSecret: "the-consumer-secret",
    collectShortcode: "174379",
    passkey: "the-passkey",
    payOutShortcode: "600992",
    initiatorName: "testapi",
    initiatorPassword: "the-initiator-password",
    certificatePem: publicKey.export({ type: "spki", format: "pem" }).toString(),
    c2bVersion: 2,
    whenUnreachable: "Completed",
    capabilities: MPESA_CAPABILITIES,
    accountUuid: ACCOUNT_UUID,
    callbackUrl: (purpose, uuid) => `https://kesc.test/callbacks/${purpose}/${uuid}`,
    ...given,
  };
}

export function mpesaRail(given: Partial<MpesaSettings> = {}): MpesaRail {
  return new MpesaRail(mpesaSettings(given), { now: () => NOW, monotonicMillis: () => 0 });
}
