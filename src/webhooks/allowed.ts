import { BlockList, isIP } from "node:net";

import { type Parsed, parsed, unparsed } from "../domain/values/parsed.js";
import { URL_CHARACTERS_MAX } from "./limits.js";

const NETWORK = /^([0-9a-fA-F:.]+)\/([0-9]{1,3})$/;
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** Hosts: names, addresses, and networks of addresses. */
class HostList {
  readonly #names = new Set<string>();
  readonly #networks = new BlockList();

  /** Throws an Error that names the first wrong entry. */
  constructor(entries: readonly string[]) {
    for (const entry of entries) this.#add(entry);
  }

  /**
   * Whether the host of the URL is one of them. BlockList compares an IPv4 address in IPv6,
   * ::ffff:10.0.0.1, with the networks of IPv4.
   */
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

/**
 * The hosts to which the operator allows webhooks, whatever their addresses. To these http and any
 * port are allowed as well. Everybody else must have a public address, https and the port 443.
 */
export class AllowedHosts extends HostList {}

/** What a person who forwards events to a program of their own allows. */
export const THIS_MACHINE = new AllowedHosts(["localhost", "127.0.0.0/8", "::1"]);

/** Addresses that are not public, as IANA's registries for special purposes list them. */
const NOT_PUBLIC = new HostList([
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"],
  ...["192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"],
  ...["224.0.0.0/4", "240.0.0.0/4", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64"],
  ...["2001::/23", "2001:db8::/32", "2002::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8"],
]);

/**
 * Parses the address of a new endpoint. Returns it in the form that URL gives it. Refuses an IP
 * address that is not public. A name is looked up only when the service connects to it.
 */
export function parseWebhookUrl(unchecked: string, allowed: AllowedHosts): Parsed<string> {
  const url = parseStoredUrl(unchecked, allowed);
  if (!url.ok) return url;
  const whole = new URL(url.value);
  if (allowed.has(whole) || !NOT_PUBLIC.has(whole)) return url;
  return unparsed(`must not be an IP address that is not public${exception(allowed)}`);
}

/** Parses the address of an endpoint, whatever the host's address is. */
export function parseStoredUrl(unchecked: string, allowed: AllowedHosts): Parsed<string> {
  if (unchecked === "") return unparsed("is required", "REQUIRED");
  if (unchecked.length > URL_CHARACTERS_MAX) {
    return unparsed(`must have at most ${String(URL_CHARACTERS_MAX)} characters`, "TOO_LONG");
  }
  if (/[^\x00-\x7f]/.test(unchecked)) {
    const written = URL.canParse(unchecked) ? `: write it as ${new URL(unchecked).href}` : "";
    return unparsed(`must have no other characters than ASCII${written}`);
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
  if (url.protocol !== "https:" || url.port !== "") {
    return unparsed(`must begin with https, and have the port 443${exception(allowed)}`);
  }
  return parsed(url.href);
}

/** A command that forwards to this machine allows it without the variable. */
function exception(allowed: AllowedHosts): string {
  return allowed === THIS_MACHINE ? "" : ", unless KESC_WEBHOOKS_ALLOW of the server has its host";
}

/** A URL has an IPv6 address in brackets. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}
