import { isIP } from "node:net";
import { checkServerIdentity } from "node:tls";

import type { ChannelOptions, VerifyOptions } from "@grpc/grpc-js";

// RFC 2606 keeps the ending for names that nobody has.
const NO_SERVER_NAME = "ip-address.invalid";
const HOST_OF_TARGET = /^(?:(?:dns|ipv4|ipv6):(?:\/\/[^/]*\/)?)?(?:\[([^\]]+)\]|([^:]+))(?::[0-9]+)?$/;

/**
 * Returns the options that a channel over TLS to `target` needs beside the credentials.
 *
 * An IP address is no server name in TLS (RFC 6066, section 3). grpc-js 1.14.7 sends it as one
 * all the same: Node 24 warns of it, and Node 25 throws, so that the channel never connects. The
 * name in its place says nothing, so the credentials need `verifyOptionsFor` the same target.
 */
export function serverNameFor(target: string): ChannelOptions {
  return ipOf(target) === undefined ? {} : { "grpc.ssl_target_name_override": NO_SERVER_NAME };
}

/** Returns how credentials of a channel to `target` compare its certificate with the address. */
export function verifyOptionsFor(target: string): VerifyOptions {
  const ip = ipOf(target);
  return ip === undefined ? {} : { checkServerIdentity: (_name, certificate) => checkServerIdentity(ip, certificate) };
}

/** Returns the IP address that a target of gRPC names. Undefined if it names a host or a socket. */
function ipOf(target: string): string | undefined {
  const [, bracketed, plain] = HOST_OF_TARGET.exec(target) ?? [];
  const host = bracketed ?? plain ?? "";
  return isIP(host) === 0 ? undefined : host;
}
