import { expect } from "chai";

import { ask, formTokenIn, textOf } from "./browser-like.js";
import { type ConsoleService, startConsoleService } from "./given.js";

/** Texts that callers may write, and what they must look like in HTML. */
const PAYLOADS = [
  `<script>alert(1)</script>`,
  `"><img src=x onerror=alert(1)>`,
  `' autofocus onfocus=alert(1) x='`,
  `javascript:alert(1)`,
  `</title></bdi><svg/onload=alert(1)>`,
  `{{constructor}} \${7*7} <%= 7*7 %>`,
  `&lt;b&gt; &amp; &quot;`,
  `]]><!--`,
  `<form action="/sign-out" method="post"><button>Go</button></form>`,
  `<meta http-equiv="refresh" content="0;url=//example.com">`,
  `<plaintext>`,
  `</table></main></body>`,
  `</bdi></td><td>9,999.00`,
  `" onmouseover="alert(1)`,
  `' style='position:fixed`,
  `data:text/html,<script>alert(1)</script>`,
  `//example.com/`,
  `/\\example.com`,
  `{"proto":{"polluted":true}}`,
  `$" + alert(1) + "`,
  `%3Cscript%3Ealert(1)%3C/script%3E`,
  `&#60;script&#62;`,
  `\\u003cscript\\u003e`,
  `W`.repeat(100),
];

describe("the pages of the console", () => {
  let service: ConsoleService;
  let origin: string;
  let org: string;
  let token: string;
  let accountId: string;
  let transactionId: string;
  before(async () => {
    service = await startConsoleService();
    ({ origin } = service);
    org = service.demo.organizationId;
    token = service.keys.amina;
    const { client } = service;
    const phone_number = "+254712001900";
    const { account } = await client.accounts.createAccount({ user_id: PAYLOADS[0] ?? "", phone_number });
    accountId = account.id;
    for (const [index, description] of PAYLOADS.entries()) {
      const { transaction } = await client.transactions.mint({
        account_id: accountId,
        amount: "1234567.50",
        reference: `${String(index)} ${description}`,
        description,
        metadata: { note: description },
        rail: "direct",
      });
      transactionId = transaction.id;
    }
    await client.accounts.freezeAccount({ account_id: accountId, reason: "fraud", note: PAYLOADS[1] ?? "" });
  });
  after(() => service.dispose());

  const page = async (path: string, who = token): Promise<string> => {
    const { status, html } = await ask(origin, path, { token: who });
    expect(status, path).to.equal(200);
    return html;
  };
  const find = async (text: string): Promise<Awaited<ReturnType<typeof ask>>> => {
    const form_token = formTokenIn(await page(`/${org}`), `/${org}/find`);
    return ask(origin, `/${org}/find`, { token, form: { text, form_token } });
  };

  it("shows each text that somebody wrote as it is, and none becomes markup", async () => {
    const paths = [
      `/${org}/transactions`,
      `/${org}/accounts`,
      `/${org}/acts/freeze?account_id=${accountId}`,
      `/${org}/accounts/${accountId}`,
      `/${org}/accounts/${accountId}/statement?print=yes`,
      `/${org}/transactions/${transactionId}`,
      `/${org}/deposits`,
      `/${org}/journal`,
      `/${org}/month`,
    ];
    for (const path of paths) {
      const html = await page(path);
      expect(html, path).not.to.match(
        /<(script(?! src="\/assets\/)|img|svg|iframe|style|base|math|template|plaintext|textarea|slot)/,
      );
    }
    const list = await page(`/${org}/transactions`);
    for (const [index, payload] of PAYLOADS.entries()) {
      const escaped = payload.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
      const whole = `${String(index)} ${escaped}`;
      expect(list, payload).to.satisfy((html: string) =>
        [`">${whole}</bdi>`, `title="${whole}">`].some((part) => html.includes(part)),
      );
    }
  });

  it("says first whether the reserve covers what is owed: unknown, until somebody has seen it", async () => {
    const html = await page(`/${org}`);
    expect(html).to.include("Unknown whether the reserve covers what is owed").and.not.include("Needs a person");
    expect(html).to.include("29,629,620.00");
    expect(html.match(/class="name"/g)).to.have.length(3);
  });

  it("masks the phone number of a customer, in each page", async () => {
    for (const path of [`/${org}/accounts/${accountId}`, `/${org}/transactions/${transactionId}`]) {
      expect(await page(path), path).not.to.include("712001900");
    }
    expect(await page(`/${org}/accounts/${accountId}`)).to.include("254******900");
  });

  it("lists the customers, by status and tier", async () => {
    const path = `/${org}/accounts`;
    expect(await page(`${path}?status=frozen`))
      .to.include(`${path}/${accountId}`)
      .and.include("254******900");
    expect(await page(`${path}?status=active&status=closed`)).to.include("No customer has all of this");
    expect(await page(`${path}?start=2026-02-31`))
      .to.include("INVALID_FIELD")
      .and.include("start");
    expect(await page(`${path}?tier=gold`)).to.include("No customer has all of this");
  });

  it("filters by the id of an account, says so for another text, and by the name of an operator", async () => {
    for (const list of ["transactions", "journal"]) {
      expect(await page(`/${org}/${list}?account=${accountId}`)).not.to.include("takes the id");
      expect(await page(`/${org}/${list}?account=nobody`)).to.include("takes the id of an account");
    }
    expect(await page(`/${org}/transactions?account=${accountId}`)).to.include("1,234,567.50");
    expect(await page(`/${org}/journal?person=Amina`)).to.include("No row has all of this");
  });

  it("leads from a phone number, an id, a reference or a row to its page, and shows several matches", async () => {
    expect((await find("0712 001 900")).headers.location).to.equal(`/${org}/accounts/${accountId}`);
    expect((await find(transactionId)).headers.location).to.equal(`/${org}/transactions/${transactionId}`);
    expect((await find("#2")).headers.location).to.equal(`/${org}/journal/row-2`);
    const none = await find("RKTQDM7W99");
    expect(none.status).to.equal(200);
    expect(textOf(none.html)).to.match(/No match for “ RKTQDM7W99 ” Looked at receipts, references and user_ids/);
    expect(textOf((await find("7W99")).html)).to.include("not by its last ones");
    expect((await ask(origin, `/${transactionId}`, { token })).headers.location).to.equal(
      `/${org}/transactions/${transactionId}`,
    );
  });

  it("finds payments by their amount, as people write it, and takes no phone number for one", async () => {
    for (const text of ["1,234,567.50", "1234567.5", "kes 1,234,567.50"]) {
      expect(textOf((await find(text)).html), text)
        .to.include("Payments of 1,234,567.50 KES")
        .and.include("These are the newest");
    }
    expect(textOf((await find("2,211")).html)).to.include("None of the payments looked at has this amount");
    expect(textOf((await find("0712001999")).html)).to.not.include("Payments of");
    expect((await find(transactionId.toUpperCase())).headers.location).to.equal(
      `/${org}/transactions/${transactionId}`,
    );
  });

  it("shows the statement of an account, from its opening to its closing balance, in pages", async () => {
    const path = `/${org}/accounts/${accountId}/statement`;
    const first = await page(`${path}?start=2026-01-01&end=2026-01-31`);
    expect(first).to.include("No line in this period").and.include('value="2026-01-31"');
    const wrong = await ask(origin, `${path}?start=2026-02-31&end=2026-01-31`, { token });
    expect(wrong.html).to.include("INVALID_FIELD").and.include("start");
    expect(await page(path))
      .to.include("Opening balance")
      .and.include("Closing balance");
    const other = path.replace(accountId, "acc_01jd2r6p5vf8ksw3xhb1z7q4ye");
    expect((await ask(origin, other, { token })).status).to.equal(404);
  });

  it("shows the supply as a table that foots, and as it was after a row", async () => {
    const now = await page(`/${org}/supply`);
    expect(now.match(/29,629,620\.00/g)?.length).to.be.greaterThan(4);
    expect(now).to.include("No figure recorded").and.not.include("The two sums differ");
    const then = await page(`/${org}/supply?as_of=row-3`);
    expect(then).to.include("As of row 3").and.not.include("29,629,620.00");
  });

  it("shows a row of the book with who did it, and why there is no proof yet", async () => {
    const html = await page(`/${org}/journal/row-2`);
    expect(html).to.include("Row #2").and.include("a command on the database").and.include("CHECKPOINT_NOT_FOUND");
  });

  it("shows a proposal to its proposer, and to the person who can approve it", async () => {
    await service.act();
    const list = await page("/approvals", service.keys.brian);
    const [, id = ""] = /href="\/approvals\/(prp_[0-9a-z]{26})"/.exec(list) ?? [];
    const seen = await page(`/approvals/${id}`, service.keys.brian);
    expect(seen)
      .to.include("Make an operator: person Carol Wanjiru, roles support")
      .and.include("You can be that person");
    expect(seen).to.include(`/acts/approve?proposal_id=${id}`);
    const own = await page(`/approvals/${id}`);
    expect(own).to.include("Another person must approve").and.not.include("/acts/approve");
    // 400,000 KES were recorded of the 29,629,620 that are owed.
    expect(textOf(await page(`/${org}`)))
      .to.include("−29,229,620.00 KES difference")
      .and.include("Not explained −29,229,620.00");
  });

  it("shows who may do what, and every page of the frame to a viewer", async () => {
    expect(await page("/people"))
      .to.include("Amina")
      .and.include("finance, admin")
      .and.include("Brian");
    expect((await ask(origin, "/", { token })).status).to.equal(200);
  });
});
