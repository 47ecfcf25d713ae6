import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";

import type { Values } from "../variables.js";

/** A file, and the variable that names it. */
export interface NamedFile {
  readonly variable: string;
  readonly path: string;
}

/** The files of one side of TLS, all in PEM. The certificate comes with its chain. */
export interface TlsFiles {
  readonly certificate?: NamedFile | undefined;
  readonly key?: NamedFile | undefined;
  /** The CAs whose certificates this side trusts. */
  readonly ca?: NamedFile | undefined;
}

/** The contents of these files. */
export interface TlsMaterial {
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
  readonly ca?: Buffer | undefined;
}

export const TLS_VERSION_MIN = "TLSv1.2";

type TlsValues = Pick<
  Values,
  | "KESC_TLS_CERT_FILE"
  | "KESC_TLS_KEY_FILE"
  | "KESC_TLS_CLIENT_CA_FILE"
  | "KESC_GATEWAY_CA_FILE"
  | "KESC_GATEWAY_CERT_FILE"
  | "KESC_GATEWAY_KEY_FILE"
>;

/**
 * Returns the files of a program that listens; undefined if TLS is off. Only the gRPC server reads
 * the CA: with it each client needs a certificate.
 */
export function serverTlsFilesOf(values: TlsValues): TlsFiles | undefined {
  if (values.KESC_TLS_CERT_FILE === undefined) return undefined;
  return {
    certificate: named(values, "KESC_TLS_CERT_FILE"),
    key: named(values, "KESC_TLS_KEY_FILE"),
    ca: named(values, "KESC_TLS_CLIENT_CA_FILE"),
  };
}

/** Returns the files of the server's clients; undefined if they call it without TLS. */
export function clientTlsFilesOf(values: TlsValues): TlsFiles | undefined {
  if (values.KESC_GATEWAY_CA_FILE === undefined) return undefined;
  return {
    ca: named(values, "KESC_GATEWAY_CA_FILE"),
    certificate: named(values, "KESC_GATEWAY_CERT_FILE"),
    key: named(values, "KESC_GATEWAY_KEY_FILE"),
  };
}

function named(values: TlsValues, variable: keyof TlsValues): NamedFile | undefined {
  const path = values[variable];
  return path === undefined ? undefined : { variable, path };
}

/** A file of TLS cannot be used. The message is a sentence for the operator. */
export class TlsFileError extends Error {}

/** Reads the files. Throws a TlsFileError if one cannot be read, or if they do not fit. */
export function readTls(files: TlsFiles): TlsMaterial {
  const read = (file: NamedFile | undefined): Buffer | undefined => {
    try {
      return file === undefined ? undefined : readFileSync(file.path);
    } catch (error) {
      throw unreadable(file, error);
    }
  };
  return usable(files, { cert: read(files.certificate), key: read(files.key), ca: read(files.ca) });
}

/** Reads the files without blocking, and does not check them. Rejects with a TlsFileError. */
export async function readTlsLater(files: TlsFiles): Promise<TlsMaterial> {
  const read = async (file: NamedFile | undefined): Promise<Buffer | undefined> =>
    file === undefined
      ? undefined
      : readFile(file.path).catch((error: unknown) => {
          throw unreadable(file, error);
        });
  const [cert, key, ca] = await Promise.all([read(files.certificate), read(files.key), read(files.ca)]);
  return { cert, key, ca };
}

/**
 * Returns the contents. Throws a TlsFileError unless they are PEM, and the key is that of the
 * certificate.
 */
export function usable({ certificate, key, ca }: TlsFiles, material: TlsMaterial): TlsMaterial {
  if (certificate !== undefined && key !== undefined) {
    try {
      createSecureContext({ cert: material.cert, key: material.key });
    } catch (error) {
      const files = `${describe(certificate)} and ${describe(key)}`;
      throw new TlsFileError(`${files} are not a certificate and its private key, both in PEM: ${reasonOf(error)}.`);
    }
  }
  if (ca === undefined || material.ca === undefined) return material;
  try {
    if (certificatesIn(material.ca).length === 0) throw new Error("no certificate begins in it");
    createSecureContext({ ca: material.ca });
  } catch (error) {
    throw new TlsFileError(`${describe(ca)} holds no certificate in PEM: ${reasonOf(error)}.`);
  }
  return material;
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Returns the certificates of a file in PEM, in their order. Throws if one cannot be parsed. */
export function certificatesIn(pem: Buffer): readonly X509Certificate[] {
  return (pem.toString("latin1").match(PEM_CERTIFICATE) ?? []).map((text) => new X509Certificate(text));
}

/** The time in which all certificates of a chain are valid, in milliseconds since 1970. */
export interface Validity {
  readonly notBefore: number;
  readonly notAfter: number;
}

export function validityOf(chain: Buffer): Validity {
  const certificates = certificatesIn(chain);
  return {
    notBefore: Math.max(...certificates.map(({ validFrom }) => Date.parse(validFrom))),
    notAfter: Math.min(...certificates.map(({ validTo }) => Date.parse(validTo))),
  };
}

/** Names the file as messages do, with its variable. */
export function describe({ variable, path }: NamedFile): string {
  return `${path} (${variable})`;
}

function unreadable(file: NamedFile | undefined, error: unknown): TlsFileError {
  const name = file === undefined ? "A file" : describe(file);
  return new TlsFileError(`${name} cannot be read: ${(error as NodeJS.ErrnoException).code ?? "error"}.`);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : "unknown reason";
}
