import { BlockList, isIP } from "node:net";

import { type Parsed, parsed, unparsed } from "../domain/values/parsed.js";
import { URL_CHARACTERS_MAX } from "./limits.js";

const NETWORK = /^([0-9a-fA-F:.]+)\/([0-9]{1,3})$/;
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/**
 * The hosts to which the operator allows webhooks, whatever their addresses: names, addresses, and
 * networks of addresses. To these http and any port are allowed as well. Everybody else must have a
 * public address, https and the port 443.
 */
export class AllowedHosts {
  readonly #names = new Set<string>();
  readonly #networks = new BlockList();

  /** Throws an Error that names the first wrong entry. */
  constructor(entries: readonly string[]) {
    for (const entry of entries) this.#add(entry);
  }

  /** Whether the operator allows the host of the URL. */
  has({ hostname }: URL): boolean {
    const host = bare(hostname);
    const family = isIP(host);
    if (family === 0) return this.#names.has(host);
    return this.#networks.check(host, family === 4 ? "ipv4" : "ipv6");
  }

  #add(entry: string): void {
    const [, network, bits] = NETWORK.exec(entry) ?? [];
    const family = isIP(network ?? entry);
    if (network !== undefined && family !== 0 && Number(bits) <= (family === 4 ? 32 : 128)) {
      this.#networks.addSubnet(network, Number(bits), family === 4 ? "ipv4" : "ipv6");
    } else if (network === undefined && family !== 0) {
      this.#networks.addAddress(entry, family === 4 ? "ipv4" : "ipv6");
    } else if (network === undefined && HOST_NAME.test(entry)) {
      this.#names.add(entry);
    } else {
      throw new Error(`has the entry "${entry}", which is neither a host name nor an address nor a network`);
    }
  }
}

/** Parses the address of an endpoint. Returns it in the form that URL gives it. */
export function parseWebhookUrl(unchecked: string, allowed: AllowedHosts): Parsed<string> {
  if (unchecked === "") return unparsed("is required", "REQUIRED");
  if (unchecked.length > URL_CHARACTERS_MAX) {
    return unparsed(`must have at most ${String(URL_CHARACTERS_MAX)} characters`, "TOO_LONG");
  }
  // A URL takes "https:///x" for "https://x/".
  if (!/^https?:\/\/(?![/\\])[\x21-\x7e]+$/.test(unchecked) || !URL.canParse(unchecked)) {
    return unparsed("must be an https address, such as https://example.com/webhooks");
  }
  const url = new URL(unchecked);
  if (url.href.length > URL_CHARACTERS_MAX) {
    return unparsed(`must have at most ${String(URL_CHARACTERS_MAX)} characters`, "TOO_LONG");
  }
  if (url.username !== "" || url.password !== "" || url.hash !== "") {
    return unparsed("must have no user, password or fragment");
  }
  if (allowed.has(url)) return parsed(url.href);
  if (url.protocol !== "https:" || url.port !== "") return unparsed("must begin with https, and have the port 443");
  return parsed(url.href);
}

/** A URL has an IPv6 address in brackets. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}
