/**
 * A certificate for localhost, 127.0.0.1 and ::1, its key, and the CA that signed it. They are
 * valid until 2126 and serve tests only. The key of the CA was thrown away.
 */
export const TLS_CERT_FILE = "test/support/tls/server-cert.pem";
export const TLS_KEY_FILE = "test/support/tls/server-key.pem";
export const TLS_CA_FILE = "test/support/tls/ca.pem";

/** The files of a client that trusts this CA. */
export const TLS_CLIENT_FILES = { ca: { variable: "KESC_GATEWAY_CA_FILE", path: TLS_CA_FILE } };
