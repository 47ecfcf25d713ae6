import { expect } from "chai";

import { clientCredentials } from "../../../runtime/transport/client-credentials.js";
import { certificatesIn, readTls, TlsFileError, type TlsFiles } from "../../../runtime/transport/tls.js";
import { TLS_CA_FILE, TLS_CERT_FILE, TLS_KEY_FILE } from "../../support/tls/files.js";

function serverFiles(certificate: string, key: string): TlsFiles {
  return {
    certificate: { variable: "KESC_TLS_CERT_FILE", path: certificate },
    key: { variable: "KESC_TLS_KEY_FILE", path: key },
  };
}

function clientFiles(ca: string): TlsFiles {
  return { ca: { variable: "KESC_GATEWAY_CA_FILE", path: ca } };
}

describe("the files of TLS", () => {
  it("are a certificate and its key", () => {
    const { cert, key } = readTls(serverFiles(TLS_CERT_FILE, TLS_KEY_FILE));
    expect(certificatesIn(cert ?? Buffer.of())).to.have.length(1);
    expect(String(key)).to.contain("PRIVATE KEY");
  });

  for (const [what, certificateFile, keyFile, words] of [
    [
      "the certificate is missing",
      "none.pem",
      TLS_KEY_FILE,
      /^none\.pem \(KESC_TLS_CERT_FILE\) cannot be read: ENOENT/,
    ],
    ["the key is missing", TLS_CERT_FILE, "none.pem", /^none\.pem \(KESC_TLS_KEY_FILE\) cannot be read: ENOENT\.$/],
    ["the certificate is none", "package.json", TLS_KEY_FILE, /KESC_TLS_CERT_FILE.* are not a certificate/],
    ["the certificate is that of another key", TLS_CA_FILE, TLS_KEY_FILE, /key values mismatch\.$/],
  ] as const) {
    it(`are refused when ${what}`, () => {
      expect(() => readTls(serverFiles(certificateFile, keyFile))).to.throw(TlsFileError, words);
    });
  }

  it("turn TLS on at a client that has a CA, but for a Unix socket", () => {
    const isSecure = (address: string, ca?: string): boolean =>
      clientCredentials(address, ca === undefined ? undefined : clientFiles(ca))._isSecure();
    expect(isSecure("localhost:1", TLS_CA_FILE)).to.equal(true);
    expect(isSecure("localhost:1")).to.equal(false);
    expect(isSecure("unix:/run/kesc.sock", TLS_CA_FILE)).to.equal(false);
  });

  for (const [file, words] of [
    ["none.pem", /^none\.pem \(KESC_GATEWAY_CA_FILE\) cannot be read: ENOENT\.$/],
    ["package.json", /^package\.json \(KESC_GATEWAY_CA_FILE\) holds no certificate in PEM/],
  ] as const) {
    it(`are refused when the CA is ${file}`, () => {
      expect(() => clientCredentials("localhost:1", clientFiles(file))).to.throw(TlsFileError, words);
    });
  }
});
