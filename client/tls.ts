import { isIP } from "node:net";
import { checkServerIdentity } from "node:tls";

import { type ChannelCredentials, type ChannelOptions, credentials } from "@grpc/grpc-js";

/** What TLS needs beside the roots of the system: contents of files in PEM. */
export interface TlsFiles {
  /** The authority that has signed the server's certificate. */
  readonly ca?: Buffer | undefined;
  /** The certificate of the client, with its key. */
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
}

interface Secured {
  readonly credentials: ChannelCredentials;
  readonly channelOptions: ChannelOptions;
}

export const NO_TLS: Secured = { credentials: credentials.createInsecure(), channelOptions: {} };

/**
 * An IP address is no server name in TLS (RFC 6066, section 3). grpc-js 1.14.7 sends it as one
 * all the same: Node 24 warns of it, and Node 25 throws, so that the channel never connects. The
 * name in its place says nothing: the certificate is compared with the address.
 */
export function tlsTo(address: string, { ca, cert, key }: TlsFiles = {}): Secured {
  const host = address.replace(/:[0-9]+$/, "").replace(/^\[(.*)\]$/, "$1");
  const files = [ca ?? null, key ?? null, cert ?? null] as const;
  if (isIP(host) === 0) return { credentials: credentials.createSsl(...files), channelOptions: {} };
  return {
    credentials: credentials.createSsl(...files, {
      checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
    }),
    channelOptions: { "grpc.ssl_target_name_override": "ip-address.invalid" },
  };
}
