import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";

import { type ChannelCredentials, credentials } from "@grpc/grpc-js";

import type { Values } from "../variables.js";

/** The files of a certificate with its chain, and of its private key, both in PEM. */
export interface TlsFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** Returns the files that the variables name; undefined if TLS is off. */
export function tlsFilesOf({
  KESC_TLS_CERT_FILE: certificateFile,
  KESC_TLS_KEY_FILE: keyFile,
}: Pick<Values, "KESC_TLS_CERT_FILE" | "KESC_TLS_KEY_FILE">): TlsFiles | undefined {
  return certificateFile === undefined || keyFile === undefined ? undefined : { certificateFile, keyFile };
}

/** The contents of these files. */
export interface TlsIdentity {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** A file of TLS cannot be used. The message is a sentence for the operator. */
export class TlsFileError extends Error {}

/** Reads both files. Throws a TlsFileError if one cannot be read, or if they do not fit. */
export function readTlsIdentity({ certificateFile, keyFile }: TlsFiles): TlsIdentity {
  const identity = {
    cert: readPem("KESC_TLS_CERT_FILE", certificateFile),
    key: readPem("KESC_TLS_KEY_FILE", keyFile),
  };
  try {
    createSecureContext(identity);
  } catch (error) {
    const files = `${certificateFile} (KESC_TLS_CERT_FILE) and ${keyFile} (KESC_TLS_KEY_FILE)`;
    throw new TlsFileError(`${files} are not a certificate and its private key, both in PEM: ${reasonOf(error)}.`);
  }
  return identity;
}

/**
 * Returns the credentials of a client that connects to `address`. With `caFile` it uses TLS, and
 * trusts only certificates that this CA has signed. A Unix socket needs no TLS.
 *
 * Throws a TlsFileError if the file cannot be used.
 */
export function clientCredentials(address: string, caFile: string | undefined): ChannelCredentials {
  if (caFile === undefined || address.startsWith("unix:")) return credentials.createInsecure();
  const ca = readPem("KESC_GATEWAY_CA_FILE", caFile);
  try {
    new X509Certificate(ca);
  } catch (error) {
    throw new TlsFileError(`${caFile} (KESC_GATEWAY_CA_FILE) holds no certificate in PEM: ${reasonOf(error)}.`);
  }
  return credentials.createSsl(ca);
}

function readPem(variable: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new TlsFileError(
      `${file} (${variable}) cannot be read: ${(error as NodeJS.ErrnoException).code ?? "error"}.`,
    );
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : "unknown reason";
}
