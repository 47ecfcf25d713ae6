import { hash } from "node:crypto";

import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";

/** A passkey as its authenticator made it. */
export interface PasskeyCredential {
  /** In base64url, as browsers name it. */
  readonly credentialId: string;
  /** In COSE. */
  readonly publicKey: Uint8Array<ArrayBuffer>;
}

/** What a response says, before anything of it was checked. */
export interface PasskeyResponse {
  readonly credentialId: string;
  readonly challenge: string;
  readonly json: unknown;
}

const FORMAT = "kesc-passkey-1";
const NAME = "KESC";
const TIMEOUT_MILLIS = 300_000;
// ES256, EdDSA and RS256: what authenticators have today.
const ALGORITHMS = [-7, -8, -257];
const CREDENTIAL_ID_MAX = 1_500;

/** Returns the fingerprint of a passkey, in hexadecimal. An act names a passkey by it. */
export function passkeySha256({ credentialId, publicKey }: PasskeyCredential): string {
  return hash("sha256", JSON.stringify([FORMAT, credentialId, Buffer.from(publicKey).toString("hex")]), "hex");
}

/**
 * Reads a response. Returns undefined if it is none, or if a page of another origin had asked for
 * it within a frame: the library accepts such a response.
 */
export function readResponse(text: string): PasskeyResponse | undefined {
  try {
    const json = JSON.parse(text) as { readonly id?: unknown; readonly response?: { clientDataJSON?: unknown } };
    const { clientDataJSON } = json.response ?? {};
    if (typeof json.id !== "string" || typeof clientDataJSON !== "string") return undefined;
    const client = JSON.parse(Buffer.from(clientDataJSON, "base64url").toString()) as Readonly<Record<string, unknown>>;
    const { challenge, crossOrigin, topOrigin } = client;
    if (typeof challenge !== "string" || topOrigin !== undefined) return undefined;
    if (crossOrigin !== undefined && crossOrigin !== false) return undefined;
    return { credentialId: json.id, challenge, json };
  } catch {
    return undefined;
  }
}

export interface CreationUser {
  readonly name: string;
  /** Never shown. One authenticator keeps one passkey for each. */
  readonly userId: Uint8Array<ArrayBuffer>;
  /** The passkeys that the person has. Their authenticators make no second one. */
  readonly credentialIds: readonly string[];
}

/**
 * Makes the options for browsers, and checks their responses. `origin` is that of the console, such
 * as "https://console.example.com". The library is loaded when the first person needs it.
 */
export class PasskeyChecks {
  readonly origin: string;
  readonly #rpId: string;

  constructor(origin: string) {
    this.origin = origin;
    this.#rpId = new URL(origin).hostname;
  }

  async requestOptions(challenge: Uint8Array<ArrayBuffer>): Promise<string> {
    const { generateAuthenticationOptions } = await import("@simplewebauthn/server");
    const options = { rpID: this.#rpId, challenge, timeout: TIMEOUT_MILLIS, userVerification: "required" } as const;
    return JSON.stringify(await generateAuthenticationOptions(options));
  }

  async creationOptions(
    challenge: Uint8Array<ArrayBuffer>,
    { name, userId, credentialIds }: CreationUser,
  ): Promise<string> {
    const { generateRegistrationOptions } = await import("@simplewebauthn/server");
    const options = await generateRegistrationOptions({
      rpName: NAME,
      rpID: this.#rpId,
      userName: name,
      userDisplayName: name,
      userID: userId,
      challenge,
      timeout: TIMEOUT_MILLIS,
      attestationType: "none",
      excludeCredentials: credentialIds.map((id) => ({ id })),
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      supportedAlgorithmIDs: ALGORITHMS,
    });
    return JSON.stringify(options);
  }

  /** Returns the passkey that a response registers. The caller has checked the challenge. */
  async registered({ json, challenge }: PasskeyResponse): Promise<PasskeyCredential | undefined> {
    const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
    const response = json as RegistrationResponseJSON;
    try {
      // Otherwise the library would fetch addresses out of the certificates.
      if (await hasCertificates(response)) return undefined;
      const { registrationInfo } = await verifyRegistrationResponse({
        ...this.#expected(challenge),
        response,
        supportedAlgorithmIDs: ALGORITHMS,
      });
      if (registrationInfo === undefined) return undefined;
      const { id, publicKey } = registrationInfo.credential;
      return id.length > CREDENTIAL_ID_MAX ? undefined : { credentialId: id, publicKey };
    } catch {
      // The library throws for each thing that is wrong with a response.
      return undefined;
    }
  }

  /** Returns whether the passkey has signed the response. The caller has checked the challenge. */
  async isSignedBy(
    { credentialId, publicKey }: PasskeyCredential,
    { json, challenge }: PasskeyResponse,
  ): Promise<boolean> {
    const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
    const response = json as AuthenticationResponseJSON;
    // Passkeys that are synchronized do not count their uses.
    const credential = { id: credentialId, publicKey, counter: 0 };
    try {
      const { verified } = await verifyAuthenticationResponse({ ...this.#expected(challenge), response, credential });
      return verified;
    } catch {
      return false;
    }
  }

  #expected(expectedChallenge: string) {
    const { origin: expectedOrigin } = this;
    return { expectedChallenge, expectedOrigin, expectedRPID: this.#rpId, requireUserVerification: true };
  }
}

/** Whether an attestation is more than that of the passkey itself. We ask for none. */
async function hasCertificates({ response }: RegistrationResponseJSON): Promise<boolean> {
  const { decodeAttestationObject, isoBase64URL } = await import("@simplewebauthn/server/helpers");
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject));
  const format = attestation.get("fmt");
  return format !== "none" && (format !== "packed" || attestation.get("attStmt").get("x5c") !== undefined);
}
