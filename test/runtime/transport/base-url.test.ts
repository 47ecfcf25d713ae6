import { expect } from "chai";

import { readBaseUrl } from "../../../runtime/transport/base-url.js";

describe("the URL of a service", () => {
  for (const [text, url] of [
    ["https://kesc.example.com", "https://kesc.example.com"],
    ["https://kesc.example.com/", "https://kesc.example.com"],
    ["https://kesc.example.com:8443/api//", "https://kesc.example.com:8443/api"],
    ["http://127.0.0.1:8090", "http://127.0.0.1:8090"],
    ["http://127.9.9.9", "http://127.9.9.9"],
    ["http://localhost:1/", "http://localhost:1"],
    ["http://[::1]:8090", "http://[::1]:8090"],
  ] as const) {
    it(`is read: ${text}`, () => {
      expect(readBaseUrl(text)).to.deep.equal({ ok: true, url });
    });
  }

  const NO_URL = "must be the URL of a service, such as https://kesc.example.com";
  const NO_TLS = "must begin with https, unless it is on this machine";
  for (const [text, problem] of [
    ["kesc.example.com", NO_URL],
    ["", NO_URL],
    ["ftp://kesc.example.com", NO_URL],
    ["https://user:secret@kesc.example.com", NO_URL],
    ["https://kesc.example.com/?a=b", NO_URL],
    ["https://kesc.example.com/#a", NO_URL],
    ["http://kesc.example.com", NO_TLS],
    ["http://127.0.0.1.example.com", NO_TLS],
    ["http://10.0.0.1", NO_TLS],
    ["http://[::2]", NO_TLS],
  ] as const) {
    it(`is refused: ${text}`, () => {
      expect(readBaseUrl(text)).to.deep.equal({ ok: false, problem });
    });
  }
});
