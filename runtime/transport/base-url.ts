import { isLoopback } from "./exposure.js";

/** The URL of a service, or what is wrong with it. */
export type BaseUrl = { readonly ok: true; readonly url: string } | { readonly ok: false; readonly problem: string };

/**
 * Reads the URL of a service, without a slash at its end. It begins with https; the loopback may
 * have http.
 */
export function readBaseUrl(text: string): BaseUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  if (url === undefined || !isHttp || `${url.username}${url.password}${url.search}${url.hash}` !== "") {
    return { ok: false, problem: "must be the URL of a service, such as https://kesc.example.com" };
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  if (url.protocol === "http:" && !isLoopback(host)) {
    return { ok: false, problem: "must begin with https, unless it is on this machine" };
  }
  return { ok: true, url: `${url.origin}${url.pathname}`.replace(/\/+$/, "") };
}
