import { expect } from "chai";

import { eventually } from "../support/eventually.js";
import { ask } from "./browser-like.js";
import { type ConsoleService, startConsoleService } from "./given.js";

/** What the script of a page does with each event. */
interface Told {
  readonly attention: string;
  readonly approvals: string;
  readonly news: string;
}

describe("the stream of an open page", () => {
  let service: ConsoleService;
  let org: string;
  const open = new Set<AbortController>();
  before(async () => {
    service = await startConsoleService();
    org = service.demo.organizationId;
  });
  afterEach(() => {
    for (const each of open) each.abort();
    open.clear();
  });
  after(() => service.dispose());

  const openStream = async (path: string, token = service.keys.brian): Promise<Response> => {
    const abort = new AbortController();
    open.add(abort);
    const cookie = `kesc-${new URL(service.origin).port}=${token}`;
    return fetch(`${service.origin}${path}`, { headers: { cookie }, signal: abort.signal });
  };
  const firstEvent = async (path: string, token?: string): Promise<string> => {
    const { body } = await openStream(path, token);
    const { value } = (await body?.getReader().read()) ?? {};
    return Buffer.from(value ?? "").toString();
  };
  const told = async (path: string): Promise<Told> =>
    JSON.parse((await firstEvent(path)).replace(/^data: /, "")) as Told;
  /** Loads a page until it has its counts: on a busy machine their read may take too long. */
  const streamOf = async (path: string): Promise<string> => {
    let stream = "";
    await eventually(async () => {
      const { html } = await ask(service.origin, path, { token: service.keys.brian });
      stream = (/data-stream="([^"]+)"/.exec(html)?.[1] ?? "").replaceAll("&amp;", "&");
      return stream !== "";
    });
    return stream;
  };

  it("says nothing new to a page that was just read, and to an older one what has changed", async () => {
    const stream = await streamOf(`/${org}`);
    expect((await told(stream)).news).to.equal("");
    await service.act();
    const later = await told(stream);
    expect(later.news).to.match(/^1 new proposal for you\. [0-9]+ new rows? in the book\.$/);
    expect(later.approvals).to.equal("1");
  });

  it("tells the page of a proposal what was decided", async () => {
    const list = await ask(service.origin, `/${org}/approvals`, { token: service.keys.brian });
    const [, id = ""] = /href="[^"]*\/approvals\/(prp_[0-9a-z]{26})"/.exec(list.html) ?? [];
    const stream = await streamOf(`/${org}/approvals/${id}`);
    expect(stream).to.include(`proposal=${id}`);
    expect((await told(stream)).news).to.equal("");
    await service.approveAll();
    expect((await told(stream)).news).to.equal("This proposal was approved.");
  });

  it("leads who is not signed in any more to the sign-in, and has none for what is not there", async () => {
    expect(await firstEvent(`/${org}/live?since=1.0.0`, "kesc_ses_ended")).to.equal("event: end\ndata: \n\n");
    expect((await openStream(`/${org}/live?since=x`)).status).to.equal(404);
    expect(await firstEvent("/org_01jd2r6p5vf8ksw3xhb1z7q4ye/live?since=1.0.0")).to.equal("event: end\ndata: \n\n");
  });

  it("has at most 16 streams of one session, and another person is not held up by them", async () => {
    const path = `/${org}/live?since=1.0.0`;
    const all = await Promise.all(Array.from({ length: 17 }, () => openStream(path)));
    expect(all.map(({ status }) => status).sort()).to.deep.equal([...Array<number>(16).fill(200), 429]);
    expect((await openStream(path, service.keys.amina)).status).to.equal(200);
  });

  it("has no stream in a page of the past, and in a form", async () => {
    for (const path of [`/${org}/supply?as_of=row-3`, `/${org}/acts/reserve`]) {
      const { html, status } = await ask(service.origin, path, { token: service.keys.brian });
      expect(status, path).to.equal(200);
      expect(html, path).not.to.include("data-stream");
    }
  });
});
