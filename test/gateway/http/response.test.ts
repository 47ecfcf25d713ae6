import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { expect } from "chai";
import helmet from "helmet";

import { beginRequest } from "../../../gateway/http/request-context.js";
import { sendProblem, sendResponse } from "../../../gateway/http/response.js";
import { noSuchRoute } from "../../../gateway/problems/problem.js";

describe("responses", () => {
  let server: Server;
  let url: string;
  before(async () => {
    server = createServer((req, res) => {
      if (req.url === "/helmet") {
        helmet()(req, res, () => res.end());
        return;
      }
      beginRequest(req, res);
      if (req.url === "/problem") sendProblem(res, noSuchRoute());
      else sendResponse(res, { status: 204, headers: {}, body: "" });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });

  for (const path of ["/", "/problem"]) {
    it(`of ${path} have all headers that helmet sets, and are not cached`, async () => {
      const [expected, response] = await Promise.all([fetch(`${url}/helmet`), fetch(url + path)]);
      const ofConnection = ["connection", "content-length", "date", "keep-alive"];
      const fromHelmet = [...expected.headers].filter(([name]) => !ofConnection.includes(name));
      expect(fromHelmet).to.have.lengthOf.above(10);
      expect(Object.fromEntries(response.headers)).to.include({
        ...Object.fromEntries(fromHelmet),
        "cache-control": "no-store",
      });
    });
  }
});
