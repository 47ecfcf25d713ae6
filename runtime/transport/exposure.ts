import { BlockList, isIP } from "node:net";

import type { Values } from "../variables.js";
import type { HostAndPort } from "../variables/forms.js";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** Whether only programs on this machine can reach the host. A name other than localhost is not. */
export function isLoopback(host: string): boolean {
  const version = isIP(host);
  return version === 0 ? host === "localhost" : LOOPBACK.check(host, version === 4 ? "ipv4" : "ipv6");
}

/** Whether only programs on this machine can reach "host:port" or "unix:path". */
function isLocal(address: string): boolean {
  return address.startsWith("unix:") || isLoopback(address.replace(/:[0-9]+$/, "").replace(/^\[(.*)\]$/, "$1"));
}

type Safety = Pick<
  Values,
  | "KESC_CONSOLE_ADDRESS"
  | "KESC_CONSOLE_TARGET"
  | "KESC_ADMIN_ADDRESS"
  | "KESC_GATEWAY_CA_FILE"
  | "KESC_GATEWAY_TARGET"
  | "KESC_GRPC_ADDRESS"
  | "KESC_HTTP_ADDRESS"
  | "KESC_HTTP_ADMIN_ADDRESS"
  | "KESC_INSECURE"
  | "KESC_OPERATOR_ADDRESS"
  | "KESC_TLS_CERT_FILE"
>;

/** Says where the server would send API keys over a network without TLS; one sentence each. */
export function serverExposure(values: Safety): readonly string[] {
  return [
    ...listenerExposure("KESC_GRPC_ADDRESS", values.KESC_GRPC_ADDRESS, values),
    ...adminExposure("KESC_ADMIN_ADDRESS", values),
    ...operatorExposure(values.KESC_OPERATOR_ADDRESS, values.KESC_TLS_CERT_FILE !== undefined),
  ];
}

/**
 * Says that operators would send their keys over a network without TLS. KESC_INSECURE does not
 * allow that: such a key can do everything.
 */
export function operatorExposure(address: string | undefined, hasTls: boolean): readonly string[] {
  if (address === undefined || isLocal(address) || hasTls) return [];
  return [
    `KESC_OPERATOR_ADDRESS is ${address}, which other machines can reach, but TLS is off. ` +
      "Set KESC_TLS_CERT_FILE and KESC_TLS_KEY_FILE, or use the loopback or a Unix socket.",
  ];
}

/**
 * Says the same of the gateway, as a server and as a client of the gRPC server. Beside the server
 * in one process it is a client only if it has another target.
 */
export function gatewayExposure(values: Safety, { isBesideServer = false } = {}): readonly string[] {
  return [
    ...listenerExposure("KESC_HTTP_ADDRESS", textOf(values.KESC_HTTP_ADDRESS), values),
    ...adminExposure("KESC_HTTP_ADMIN_ADDRESS", values),
    ...(isBesideServer && values.KESC_GATEWAY_TARGET === undefined ? [] : targetExposure(values)),
  ];
}

/** Says the same of the console, as a server and as a client of the operators' address. */
export function consoleExposure(values: Safety): readonly string[] {
  const { KESC_CONSOLE_TARGET: target, KESC_OPERATOR_ADDRESS: address, KESC_GATEWAY_CA_FILE: caFile } = values;
  const clientTls = caFile === undefined ? undefined : { caFile };
  const name = target === undefined ? "KESC_OPERATOR_ADDRESS" : "KESC_CONSOLE_TARGET";
  // As for each operator's key: KESC_INSECURE does not allow it.
  const problem = clientExposure(name, target ?? address ?? "unix:", { clientTls, isInsecure: false });
  return [
    ...listenerExposure("KESC_CONSOLE_ADDRESS", textOf(values.KESC_CONSOLE_ADDRESS), values),
    ...(problem === undefined ? [] : [problem]),
  ];
}

function listenerExposure(variable: string, address: string, values: Safety): readonly string[] {
  if (isLocal(address) || values.KESC_TLS_CERT_FILE !== undefined || values.KESC_INSECURE) return [];
  return [
    `${variable} is ${address}, which other machines can reach, but TLS is off. ` +
      "Set KESC_TLS_CERT_FILE and KESC_TLS_KEY_FILE. If something else protects the network, set KESC_INSECURE=true.",
  ];
}

/** The metrics ask for no key and have no TLS, so a certificate does not protect them. */
function adminExposure(variable: "KESC_ADMIN_ADDRESS" | "KESC_HTTP_ADMIN_ADDRESS", values: Safety): readonly string[] {
  const { [variable]: address, KESC_INSECURE: isInsecure } = values;
  if (address === undefined || isLoopback(address.host) || isInsecure) return [];
  return [
    `${variable} is ${textOf(address)}, which other machines can reach, but the metrics ask for no key. ` +
      "Use the loopback. If something else protects the network, set KESC_INSECURE=true.",
  ];
}

/**
 * Says that a client would send its API key over a network without TLS; undefined if it would not.
 */
export function clientExposure(
  name: string,
  address: string,
  { clientTls, isInsecure }: { readonly clientTls: object | undefined; readonly isInsecure: boolean },
): string | undefined {
  if (isLocal(address) || clientTls !== undefined || isInsecure) return undefined;
  return (
    `${name} is ${address}, which is on another machine, but TLS is off. ` +
    "Set KESC_GATEWAY_CA_FILE. If something else protects the network, set KESC_INSECURE=true."
  );
}

function targetExposure(values: Safety): readonly string[] {
  const { KESC_GATEWAY_TARGET: target, KESC_GRPC_ADDRESS: grpcAddress } = values;
  const caFile = values.KESC_GATEWAY_CA_FILE;
  const isSocket = grpcAddress.startsWith("unix:");
  if (target === undefined && values.KESC_TLS_CERT_FILE !== undefined && caFile === undefined && !isSocket) {
    return [
      "KESC_TLS_CERT_FILE turns TLS on for the server, too, but the gateway has no CA to trust it by. " +
        "Set KESC_GATEWAY_CA_FILE, or let the server listen on a Unix socket: KESC_GRPC_ADDRESS=unix:/path.",
    ];
  }
  const name = target === undefined ? "KESC_GRPC_ADDRESS" : "KESC_GATEWAY_TARGET";
  const clientTls = caFile === undefined ? undefined : { caFile };
  const problem = clientExposure(name, target ?? grpcAddress, { clientTls, isInsecure: values.KESC_INSECURE });
  return problem === undefined ? [] : [problem];
}

function textOf({ host, port }: HostAndPort): string {
  return `${host.includes(":") ? `[${host}]` : host}:${String(port)}`;
}
