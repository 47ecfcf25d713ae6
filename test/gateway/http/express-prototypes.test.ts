import { Socket } from "node:net";

import { expect } from "chai";
import express from "express";

import { messageClassesOf } from "../../../gateway/http/express-prototypes.js";

describe("the classes of requests and responses", () => {
  it("have the app's prototypes, so that Express replaces none", () => {
    const app = express();
    const { IncomingMessage, ServerResponse } = messageClassesOf(app);
    if (IncomingMessage === undefined || ServerResponse === undefined) throw new Error("there are no classes");
    const req = new IncomingMessage(new Socket());
    const res = new ServerResponse(req);
    expect(Object.getPrototypeOf(req)).to.equal(app.request);
    expect(Object.getPrototypeOf(res)).to.equal(app.response);
    expect(app.request.app).to.equal(app);
    expect(res).to.have.property("json").that.is.a("function");
  });
});
