/** The addresses that both programs listen on. */
export interface Addresses {
  readonly grpc: string;
  readonly http: string;
}

/** A client cannot call a wildcard address, so it calls the loopback address of the same family. */
export function reachable(address: string): string {
  return address.replace(/^0\.0\.0\.0:/, "127.0.0.1:").replace(/^\[::\]:/, "[::1]:");
}
