import type { X509Certificate } from "node:crypto";
import type { Http2Session, IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { TLSSocket } from "node:tls";

import { FORWARDED } from "../../../runtime/transport/forwarded.js";
import { parseCertificateName } from "../../domain/api-key.js";

/** The metadata in which the handlers find the names of the caller's certificate. */
export const PEER_CERTIFICATE = "kesc-peer-certificate";

// Each name is a look-up.
const NAMES_MAX = 8;

interface Peer {
  /** Separated by commas. */
  readonly names: string;
  readonly notAfter: number;
}

const PEERS = new WeakMap<Http2Session, Peer | "none">();

/**
 * Writes the names of the caller's certificate into the headers of a call, in place of any that the
 * caller sent. A call that another program forwards has none: the certificate is that program's.
 */
export function stampPeer(
  headers: IncomingHttpHeaders,
  { session }: Pick<ServerHttp2Stream, "session">,
  now = Date.now(),
): void {
  // Deleting a header that is absent would make each later access slower.
  if (headers[PEER_CERTIFICATE] !== undefined) delete headers["kesc-peer-certificate"];
  if (session?.encrypted !== true || headers[FORWARDED] !== undefined) return;
  let peer = PEERS.get(session);
  if (peer === undefined) {
    peer = peerOf(session.socket as TLSSocket) ?? "none";
    PEERS.set(session, peer);
  }
  // A connection may outlive the certificate.
  if (peer !== "none" && now < peer.notAfter) headers[PEER_CERTIFICATE] = peer.names;
}

function peerOf(socket: TLSSocket): Peer | undefined {
  const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined;
  const names = certificate === undefined ? [] : namesOf(certificate);
  if (certificate === undefined || names.length === 0) return undefined;
  return { names: names.join(","), notAfter: Date.parse(certificate.validTo) };
}

/**
 * Returns the DNS names and URIs of a certificate, at most eight. Node puts a name with a comma or
 * another unusual character into quotes. A certificate with such a name has no names here, because
 * a name must not be taken for two.
 */
function namesOf({ subjectAltName = "" }: Pick<X509Certificate, "subjectAltName">): readonly string[] {
  if (subjectAltName.includes('"')) return [];
  return subjectAltName
    .split(", ")
    .map((text) => parseCertificateName(text))
    .flatMap((name) => (name.ok ? [name.value] : []))
    .slice(0, NAMES_MAX);
}
