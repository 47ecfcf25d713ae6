import { randomBytes } from "node:crypto";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import "reflect-metadata";
import {
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const DAY_MILLIS = 86_400_000;
const BOTH_SIDES = ["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"];

/** A certificate with its key, in PEM. */
export interface Issued {
  readonly cert: string;
  readonly key: string;
  /** In upper case, as Node shows it. */
  readonly serial: string;
}

export interface Wish {
  /** Names such as "DNS:localhost", "IP:127.0.0.1" and "URI:spiffe://acme/billing". */
  readonly names: readonly string[];
  /** When its validity begins and ends, in milliseconds from now. */
  readonly from?: number;
  readonly to?: number;
}

const TYPES = { DNS: "dns", IP: "ip", URI: "url" } as const;

/** A CA of the tests, which issues certificates for clients and for servers. */
export class Authority {
  readonly pem: string;
  readonly #certificate: X509Certificate;
  readonly #keys: CryptoKeyPair;

  private constructor(certificate: X509Certificate, keys: CryptoKeyPair) {
    this.#certificate = certificate;
    this.#keys = keys;
    this.pem = certificate.toString("pem");
  }

  static async create(name: string): Promise<Authority> {
    const keys = await newKeys();
    const certificate = await X509CertificateGenerator.createSelfSigned({
      serialNumber: newSerial(),
      name: `CN=${name}`,
      ...validity({}),
      keys,
      signingAlgorithm: ALGORITHM,
      extensions: [new BasicConstraintsExtension(true, 0, true)],
    });
    return new Authority(certificate, keys);
  }

  async issue({ names, ...time }: Wish): Promise<Issued> {
    const keys = await newKeys();
    const serial = newSerial();
    const certificate = await X509CertificateGenerator.create({
      serialNumber: serial,
      subject: "CN=test",
      issuer: this.#certificate.subject,
      ...validity(time),
      publicKey: keys.publicKey,
      signingKey: this.#keys.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new SubjectAlternativeNameExtension(
          names.map((name) => {
            const [, type = "", value = ""] = /^(\w+):(.*)$/.exec(name) ?? [];
            return { type: TYPES[type as keyof typeof TYPES], value };
          }),
        ),
        new ExtendedKeyUsageExtension(BOTH_SIDES),
      ],
    });
    const key = await crypto.subtle.exportKey("pkcs8", keys.privateKey);
    return { cert: certificate.toString("pem"), key: PemConverter.encode(key, "PRIVATE KEY"), serial };
  }
}

/** A server's certificate for this machine. */
export const LOCAL_NAMES = ["DNS:localhost", "IP:127.0.0.1"];

/** The paths of the files that `writeTls` writes. */
export interface WrittenTls {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** Writes the files of one side into a folder. Each file is replaced as a whole. */
export function writeTls(folder: string, { cert, key }: Pick<Issued, "cert" | "key">, ca: string): WrittenTls {
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(`${path}.new`, text, { mode: 0o600 });
    renameSync(`${path}.new`, path);
    return path;
  };
  return { cert: write("cert.pem", cert), key: write("key.pem", key), ca: write("ca.pem", ca) };
}

async function newKeys(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
}

/** The first bit is 0, so that the number is positive and has no leading zeros. */
function newSerial(): string {
  return `4${randomBytes(8).toString("hex").slice(1)}`.toUpperCase();
}

function validity({ from = -DAY_MILLIS, to = 30 * DAY_MILLIS }: Omit<Wish, "names">) {
  return { notBefore: new Date(Date.now() + from), notAfter: new Date(Date.now() + to) };
}
