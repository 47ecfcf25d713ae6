import type { RequestHandler } from "express";

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS = {
  "Content-Security-Policy": POLICY,
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  // With no-referrer a browser sends "Origin: null" with a form.
  "Referrer-Policy": "same-origin",
  "Cache-Control": "no-store",
};

/** Sends the headers of every response. Browsers keep to https for a year if the console has it. */
export function secureHeaders(origin: string): RequestHandler {
  const hsts = origin.startsWith("https:") ? { "Strict-Transport-Security": "max-age=31536000" } : {};
  return (_req, res, next) => {
    res.set({ ...HEADERS, ...hsts });
    next();
  };
}

/**
 * Whether the request names the host of the origin. Another page could point a name of its own at
 * the loopback, and would then share the console's origin.
 */
export function isOwnHost(host: string | undefined, origin: string): boolean {
  return host?.toLowerCase() === new URL(origin).host;
}
