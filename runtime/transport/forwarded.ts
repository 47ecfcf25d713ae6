/**
 * The metadata by which a gateway says that it forwards a caller's request. The certificate of the
 * connection is then the gateway's, and identifies nobody.
 */
export const FORWARDED = "kesc-forwarded";
