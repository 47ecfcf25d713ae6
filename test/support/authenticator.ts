import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** What a test lets an authenticator, or the browser before it, say. */
export interface Said {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  /** The fields of the client data beside those of every response. */
  readonly client?: Readonly<Record<string, unknown>>;
  /** Without user verification: 0x01. */
  readonly flags?: number;
}

interface Options {
  readonly challenge: string;
  readonly rpId?: string;
  readonly rp?: { readonly id: string };
}

const PRESENT_AND_VERIFIED = 0x05;
const WITH_CREDENTIAL = 0x40;
const ORIGIN = "http://localhost:8081";

/** An authenticator of software with one passkey: P-256, without attestation. */
export class Authenticator {
  readonly #privateKey: KeyObject;
  readonly #cose: Buffer;
  readonly id = randomBytes(16);

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { x = "", y = "" } = publicKey.export({ format: "jwk" });
    this.#privateKey = privateKey;
    this.#cose = Buffer.concat([
      Buffer.from("a5010203262001215820", "hex"),
      Buffer.from(x, "base64url"),
      Buffer.from("225820", "hex"),
      Buffer.from(y, "base64url"),
    ]);
  }

  /** The response to the options of navigator.credentials.create(), as JSON. */
  create(optionsJson: string, said: Said = {}): string {
    const options = JSON.parse(optionsJson) as Options;
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.id.length);
    const credential = Buffer.concat([Buffer.alloc(16), length, this.id, this.#cose]);
    const data = Buffer.concat([authenticatorData(options, said, WITH_CREDENTIAL), credential]);
    const attestation = Buffer.concat([
      Buffer.from("a363666d74646e6f6e656761747453746d74a068617574684461746158", "hex"),
      Buffer.from([data.length]),
      data,
    ]);
    return this.#json({
      clientDataJSON: clientData("webauthn.create", options, said).toString("base64url"),
      attestationObject: attestation.toString("base64url"),
      transports: ["internal"],
    });
  }

  /** The response to the options of navigator.credentials.get(), as JSON. */
  get(optionsJson: string, said: Said = {}): string {
    const options = JSON.parse(optionsJson) as Options;
    const client = clientData("webauthn.get", options, said);
    const data = authenticatorData(options, said, 0);
    const signed = Buffer.concat([data, createHash("sha256").update(client).digest()]);
    return this.#json({
      clientDataJSON: client.toString("base64url"),
      authenticatorData: data.toString("base64url"),
      signature: sign("sha256", signed, this.#privateKey).toString("base64url"),
    });
  }

  #json(response: Readonly<Record<string, unknown>>): string {
    const id = this.id.toString("base64url");
    return JSON.stringify({ id, rawId: id, type: "public-key", clientExtensionResults: {}, response });
  }
}

function authenticatorData(
  { rpId, rp }: Options,
  { rpId: said = rpId ?? rp?.id ?? "", flags = PRESENT_AND_VERIFIED }: Said,
  more: number,
): Buffer {
  const hashed = createHash("sha256").update(said).digest();
  return Buffer.concat([hashed, Buffer.from([flags | more]), Buffer.alloc(4)]);
}

function clientData(type: string, options: Options, { origin = ORIGIN, client = {}, ...said }: Said): Buffer {
  const { challenge = options.challenge } = said;
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false, ...client }));
}
