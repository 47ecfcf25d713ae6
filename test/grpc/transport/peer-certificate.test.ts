import { X509Certificate } from "node:crypto";
import type { IncomingHttpHeaders, ServerHttp2Session } from "node:http2";

import { expect } from "chai";

import { stampPeer } from "../../../src/grpc/transport/peer-certificate.js";
import { Authority } from "../../support/tls/authority.js";

const NAME = "URI:spiffe://example.com/billing";
const FORGED = { "kesc-peer-certificate": "DNS:somebody.example.com" };

/** The parts of a connection that count. */
interface Peer {
  readonly encrypted?: boolean;
  readonly authorized?: boolean;
  readonly pem?: string;
}

function session({ encrypted = true, authorized = true, pem }: Peer): ServerHttp2Session {
  const getPeerX509Certificate = (): X509Certificate | undefined =>
    pem === undefined ? undefined : new X509Certificate(pem);
  return { encrypted, socket: { authorized, getPeerX509Certificate } } as unknown as ServerHttp2Session;
}

describe("the names of the caller's certificate", () => {
  let authority: Authority;
  let pem: string;
  let notAfter: number;
  before(async () => {
    authority = await Authority.create("tests");
    pem = (await authority.issue({ names: [NAME, "DNS:Billing.example.com", "IP:127.0.0.1"] })).cert;
    notAfter = Date.parse(new X509Certificate(pem).validTo);
  });

  function stamped(peer: Peer, headers: IncomingHttpHeaders = {}, now?: number): unknown {
    const given = { ...headers };
    stampPeer(given, { session: session(peer) }, now);
    return given["kesc-peer-certificate"];
  }

  it("are its DNS names and URIs, in place of what the caller wrote", () => {
    for (const headers of [{}, FORGED]) {
      expect(stamped({ pem }, headers)).to.equal(`${NAME},DNS:billing.example.com`);
    }
  });

  for (const [what, peer] of [
    ["without TLS", () => ({ pem, encrypted: false })],
    ["without a certificate", () => ({})],
    ["whose certificate was not checked", () => ({ pem, authorized: false })],
  ] as const) {
    it(`are none on a connection ${what}, whatever the caller wrote`, () => {
      expect(stamped(peer(), FORGED)).to.equal(undefined);
    });
  }

  it("are none in a call that a gateway forwards", () => {
    for (const mark of ["true", "", "false"]) {
      expect(stamped({ pem }, { ...FORGED, "kesc-forwarded": mark })).to.equal(undefined);
    }
  });

  it("are none once the certificate has expired, on a connection that is still open", () => {
    const open = session({ pem });
    const at = (now: number): unknown => {
      const headers: IncomingHttpHeaders = {};
      stampPeer(headers, { session: open }, now);
      return headers["kesc-peer-certificate"];
    };
    expect(at(notAfter - 1)).to.be.a("string");
    expect(at(notAfter)).to.equal(undefined);
  });

  it("are the first eight", async () => {
    const names = Array.from({ length: 10 }, (_, index) => `DNS:n${String(index)}.example.com`);
    const many = (await authority.issue({ names })).cert;
    expect(stamped({ pem: many })).to.equal(names.slice(0, 8).join(","));
  });
});
