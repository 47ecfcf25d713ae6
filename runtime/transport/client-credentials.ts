import { type ChannelCredentials, credentials } from "@grpc/grpc-js";

import { verifyOptionsFor } from "./server-name.js";
import { readTls, type TlsFiles } from "./tls.js";

// Apart from tls.ts: commands that call no server would load gRPC with their settings.

/**
 * Returns the credentials of a client that connects to `address`. With `files` it uses TLS, and
 * trusts only certificates that their CA has signed. A Unix socket needs no TLS. The channel needs
 * `serverNameFor(address)`.
 *
 * Throws a TlsFileError if a file cannot be used.
 */
export function clientCredentials(address: string, files: TlsFiles | undefined): ChannelCredentials {
  if (files === undefined || address.startsWith("unix:")) return credentials.createInsecure();
  const { ca = null, key = null, cert = null } = readTls(files);
  return credentials.createSsl(ca, key, cert, verifyOptionsFor(address));
}
