/**
 * Who says what a code of M-Pesa means. Safaricom's own page settles it. Otherwise two sources must
 * agree that nothing moved before a code ends an order. Nothing here was seen at Safaricom by us.
 */
export const SOURCES = {
  safaricom: "Safaricom's pages of Daraja, as copied in 2025 and 2026",
  paylod: "paylod 0.10.1 (npm, 2026)",
  mcp: "mpesa-daraja-mcp 0.1.4 (npm, 2026)",
  sdk: "daraja-sdk 0.1.0 (npm, 2026)",
  singularity: "singularity-payments 1.0.1 (npm, 2026)",
  v3: "daraja-v3 0.2.1 (npm, 2026)",
  daraja: "daraja-mcp 0.1.0 (2026)",
  errors: "ronnyabuto/daraja-error-codes (March 2026)",
  old: "lists of M-Pesa's core codes from before 2020",
  apigee: "Apigee's reference of fault codes (2026)",
  http: "RFC 9110 (2022): the server has not processed a request with this status",
  production: "production notes of others (2026)",
} as const;

export type CodeSource = keyof typeof SOURCES;

/** The documents of a protocol settle what it says, as Safaricom's do for M-Pesa. */
const SETTLING: readonly CodeSource[] = ["safaricom", "apigee", "http"];

/** Whether these sources are enough to end an order. */
export function isProven(sources: readonly CodeSource[]): boolean {
  return sources.some((source) => SETTLING.includes(source)) || new Set(sources).size >= 2;
}
