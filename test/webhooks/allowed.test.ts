import { expect } from "chai";

import { AllowedHosts, parseWebhookUrl } from "../../src/webhooks/allowed.js";

describe("parseWebhookUrl", () => {
  const nobody = new AllowedHosts([]);
  const some = new AllowedHosts(["10.1.0.0/16", "fd00::/8", "hooks.internal", "192.0.2.7"]);

  it("takes an https address with the port 443", () => {
    for (const url of ["https://example.com/hooks?token=1", "https://example.com:443/", "https://EXAMPLE.com"]) {
      expect(parseWebhookUrl(url, nobody), url).to.include({ ok: true });
    }
  });

  it("refuses all others", () => {
    const refused = [
      "",
      "example.com",
      "ftp://example.com/",
      "http://example.com/",
      "https://example.com:8443/",
      "https://user@example.com/",
      "https://user:password@example.com/",
      "https://example.com/#part",
      "https://exa mple.com/",
      "https://",
      "https:///example.com/",
      "https://\\\\example.com/",
      `https://example.com/${"a".repeat(2_048)}`,
      "javascript:alert(1)",
      "https://example.com/\n",
    ];
    for (const url of refused) expect(parseWebhookUrl(url, nobody), url).to.include({ ok: false });
  });

  it("tells how to write the name of a host that has other letters", () => {
    expect(parseWebhookUrl("https://b\u00fccher.example/hooks", nobody)).to.include({
      problem: "must have no other characters than ASCII: write it as https://xn--bcher-kva.example/hooks",
    });
    expect(parseWebhookUrl("https://\u200b/", nobody)).to.include({
      problem: "must have no other characters than ASCII",
    });
  });

  it("refuses an IP address that is not public, in each of its spellings", () => {
    for (const host of [
      ...["127.0.0.1", "10.0.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"],
      ...["2130706433", "0x7f.1", "017700000001", "255.255.255.255", "192.0.2.7", "[::1]", "[::]", "[fe80::1]"],
      ...["[fd00::1]", "[::ffff:10.0.0.1]", "[::127.0.0.1]", "[64:ff9b::a00:1]", "[2001:db8::1]", "[2002:a00:1::]"],
    ]) {
      expect(parseWebhookUrl(`https://${host}/`, nobody), host).to.include({
        ok: false,
        problem: "must not be an IP address that is not public, unless KESC_WEBHOOKS_ALLOW of the server has its host",
      });
    }
    for (const host of ["1.1.1.1", "172.32.0.1", "[2606:4700::1111]", "localhost", "hooks.internal"]) {
      expect(parseWebhookUrl(`https://${host}/`, nobody), host).to.include({ ok: true });
    }
    expect(parseWebhookUrl("https://[fd00::1]/", some)).to.include({ ok: true });
  });

  it("takes http and any port for the hosts that the operator allows, and for no other", () => {
    for (const url of [
      "http://10.1.2.3/",
      "https://10.1.2.3:8443/",
      "http://[fd00::1]:81/",
      "http://hooks.internal:9000/x",
      "http://192.0.2.7/",
      "http://0x0a010203/",
    ]) {
      expect(parseWebhookUrl(url, some), url).to.include({ ok: true });
    }
    for (const url of ["http://10.2.0.1/", "http://other.internal/", "http://a.hooks.internal/", "http://192.0.2.8/"]) {
      expect(parseWebhookUrl(url, some), url).to.include({ ok: false });
    }
  });

  it("names a wrong entry", () => {
    for (const entry of ["10.0.0.0/33", "not a host", "http://host", "host/8", "*", "10.1.0.0/"]) {
      expect(() => new AllowedHosts([entry]), entry).to.throw(`has the entry "${entry}"`);
    }
  });
});
