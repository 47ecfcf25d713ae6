import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";

import { expect } from "chai";

import { sheetXml, workbook } from "../../bench/fairness/workbook.js";
import { AdminServiceService as Admin } from "../../src/gen/kesc/admin/v1/admin_service.js";
import { now } from "../../src/startup/clock.js";
import { keys } from "../../src/storage/keys.js";
import { GrpcCaller } from "../support/callers/grpc-caller.js";
import { eventually } from "../support/eventually.js";
import { makeTenant } from "../support/service/tenants.js";
import { Receiver } from "../support/webhooks/receiver.js";
import { ask, fieldsIn, formTokenIn, type Page, signInWith, textOf } from "./browser-like.js";
import { type ConsoleService, startConsoleService } from "./given.js";

const MEBIBYTES_32 = 32 * 1_024 * 1_024;

describe("the payouts in the console", () => {
  let service: ConsoleService;
  let path: string;
  before(async () => {
    service = await startConsoleService();
    path = `/${service.demo.organizationId}/payouts`;
    const { accounts, transactions } = service.client;
    for (const [user_id, phone_number] of [
      ["amina", "0712345600"],
      ["brian", "0712345655"],
    ] as const) {
      const { account } = await accounts.createAccount({ user_id, phone_number });
      await transactions.mint({ account_id: account.id, amount: "100.00", reference: user_id, rail: "direct" });
    }
  });
  after(() => service.dispose());

  type Read = Page & { readonly text: string };
  const read = async (to: string, token = service.keys.amina): Promise<Read> => {
    const page = await ask(service.origin, to, { token });
    return { ...page, text: textOf(page.html) };
  };
  const send = async (form: Record<string, string>, text: string | Buffer = "", token = service.keys.amina) => {
    const page = await ask(service.origin, path, { token, form, file: { field: "file", text } });
    return { ...page, text: textOf(page.html) };
  };
  const look = async (text: string | Buffer, token = service.keys.amina): Promise<Read> => {
    const { html } = await read(path, service.keys.amina);
    return send({ form_token: formTokenIn(html, path), rail: "sandbox" }, text, token);
  };
  const shaOf = (text: string): string => createHash("sha256").update(text).digest("hex");
  /** Proposes the file of a preview. Returns the path of the page that follows. */
  const propose = async (preview: Read, given: Record<string, string>): Promise<string> => {
    const sent = await send({ ...fieldsIn(preview.html, path), ...given });
    expect(sent.status, sent.text).to.equal(303);
    return sent.headers.location ?? "";
  };

  const FILE = "user_id,amount,reference\namina,10,first\nnobody,5,\nbrian,20,\nbrian,20,\namina,0,\n";

  it("shows what a file would pay before anything is stored: totals, errors with their lines, rows to look at", async () => {
    const preview = await look(FILE);
    expect(preview.status, preview.text).to.equal(200);
    expect(preview.text)
      .to.contain("Nothing is stored yet")
      .and.match(/Paid over sandbox 50\.00 KES 3 rows/)
      .and.match(/phone 3 50\.00/)
      .and.match(/Line What is wrong 3 user_id: no open account has it 6 amount: must be/)
      .and.match(/Line Why 5 amount: line 4 pays the same to the same number/)
      .and.contain(shaOf(FILE))
      .and.not.match(/07123|2547/);
    expect((await read(path)).text).to.contain("No file of payouts was approved yet.");
  });

  it("reads a workbook, too", async () => {
    const cells = [
      ["user_id", "amount"],
      ["amina", "10"],
    ];
    expect((await look(workbook([sheetXml(cells)]))).text).to.match(/Paid over sandbox 10\.00 KES 1 row/);
  });

  it("asks for the number of rows to leave out, and names what is wrong with it", async () => {
    const preview = await look(FILE);
    for (const [leave_out, problem] of [
      ["1", /leave_out must be 2: the file has that number of rows with an error/],
      ["two", /leave_out must be a whole number/],
    ] as const) {
      const refused = await send({ ...fieldsIn(preview.html, path), leave_out, note: "merchants" });
      expect(refused.status).to.equal(400);
      expect(refused.text).to.match(problem);
      // The form keeps the file, so that nobody has to choose it again.
      expect(fieldsIn(refused.html, path)["kept"]).to.equal(fieldsIn(preview.html, path)["kept"]);
    }
  });

  it("is proposed, approved by a second person who sees the same preview, and paid to its end", async () => {
    const preview = await look(FILE);
    const approval = await propose(preview, { leave_out: "2", note: "merchants, November" });
    expect(approval).to.contain("/approvals/prp_");
    const page = await read(approval, service.keys.brian);
    expect(page.text)
      .to.contain("The file, as its proposer saw it")
      .and.match(/Paid over sandbox 50\.00 KES 3 rows/)
      .and.match(/3 user_id: no open account has it/)
      .and.contain("5 amount: line 4 pays the same");
    await service.approveAll();
    const ofFile = `${path}/${shaOf(FILE)}`;
    await eventually(async () => /paid 3/.test((await read(ofFile)).text));
    const { text, html } = await read(ofFile);
    expect(text)
      .to.match(/Payouts over sandbox ● ?done/)
      .and.match(/Pays 3 rows, together 50\.00 KES Left out 2 rows with an error/)
      .and.match(/2 ● paid – acc|2 ● paid/)
      .and.match(/3 ○ left out user_id: no open account has it/);
    expect(html).to.contain(`${ofFile}.csv`).and.not.contain("acts/stop-file");
    const listed = await read(path);
    expect(listed.html).to.contain(`href="${ofFile}"`);
    expect(listed.text).to.match(/● done sandbox 3 of 3 0 50\.00/);
    const csv = await read(`${ofFile}.csv`);
    expect(csv.headers["content-disposition"]).to.contain("payouts-");
    const lines = csv.html.trim().split("\r\n");
    expect(lines[0]).to.equal(
      "line,state,reason,account_id,amount,reference,description,destination_id,transaction_id,rail_receipt",
    );
    expect(lines).to.have.length(6);
    expect(lines[1]).to.match(/^2,paid,,acc_\w+,10\.00,first,,,txn_\w+,[\w:]+$/);
    // The same file again is not paid again.
    const again = await look(FILE);
    expect(again.text).to.contain("It was approved before, and a file is paid once.");
    expect(await propose(again, { leave_out: "2", note: "again" })).to.equal(ofFile);
  });

  it("proposes nothing from a file that is none, is empty or too large, or from what no page has kept", async () => {
    for (const [text, problem] of [
      ["a,b\n1,2\n", /file must be a file of payouts: .* column that is none of account/],
      ["", /file is required/],
    ] as const) {
      const refused = await look(text);
      expect(refused.status).to.equal(400);
      expect(refused.text).to.match(problem);
      expect(refused.html).to.not.contain('name="kept"');
    }
    const { html } = await read(path);
    const form = { form_token: formTokenIn(html, path), step: "do", leave_out: "0", note: "x" };
    expect((await send({ ...form, rail: "sandbox", kept: "bm9uZQ==" })).text).to.match(/file is required/);
    expect((await send({ ...form, kept: "" })).text).to.match(/rail is required/);
    expect((await look(Buffer.alloc(MEBIBYTES_32 + 128 * 1_024))).status).to.equal(413);
  });

  it("is for finance and admin: others see the files, and no form", async () => {
    for (const role of ["viewer", "support", "approver"] as const) {
      const page = await read(path, service.roleKeys[role]);
      expect(page.text, role).to.contain("takes the role finance or admin").and.contain("first");
      expect(page.html, role).to.not.contain('type="file"');
    }
    expect((await look("user_id,amount\namina,11\n", service.roleKeys.viewer)).status).to.equal(403);
  });

  it("has no page of a file that nobody has proposed", async () => {
    expect((await read(`${path}/${"0".repeat(64)}`)).status).to.equal(404);
    expect((await read(`${path}/${"0".repeat(63)}`)).status).to.equal(404);
  });

  describe("what holds them", () => {
    const MARKUP = "<img src=x onerror=alert(1)>";
    const AMINAS = "number\n0712345600\n";
    let holds: string;
    let checks: Receiver;
    before(async () => {
      holds = `${path}/holds`;
      checks = await Receiver.start();
    });
    after(() => checks.close());

    const setList = async (text: string, note = "sanctions", at = holds, token = service.keys.amina): Promise<Read> => {
      const form = { form_token: formTokenIn((await read(at, token)).html, at), note };
      const file = { field: "file", text, name: `${MARKUP}.csv` };
      const page = await ask(service.origin, at, { token, form, file });
      return { ...page, text: textOf(page.html) };
    };
    /** Fills in the form of an act, and says yes to its question. Returns both pages. */
    const act = async (name: string, given: Record<string, string>, query = ""): Promise<readonly Read[]> => {
      const at = `/${service.demo.organizationId}/acts/${name}`;
      const token = service.keys.amina;
      const post = async (form: Record<string, string>): Promise<Read> => {
        const page = await ask(service.origin, at, { token, form });
        return { ...page, text: textOf(page.html) };
      };
      const asked = await read(at + query);
      const form = { ...fieldsIn(asked.html, at), new_secret: "", ...given };
      if (fieldsIn(asked.html, at)["step"] === "do") return [asked, await post(form)];
      const question = await post(form);
      return [question, question.status === 200 ? await post(fieldsIn(question.html, at)) : question];
    };
    const proposed = async (sent: Page): Promise<void> => {
      expect(sent.headers.location).to.contain("/approvals/prp_");
      await service.approveAll();
    };

    it("is found from the page Payouts, and is nothing at first", async () => {
      expect((await read(path)).html).to.contain(`href="${holds}"`);
      expect((await read(holds)).text)
        .to.contain("There is no list.")
        .and.contain("No service is asked.");
    });

    it("is a list with its counts and the person who set it, and none of its entries", async () => {
      expect((await setList(AMINAS)).text)
        .to.contain("Done")
        .and.match(/Numbers 1/);
      const shown = await read(holds);
      expect(shown.text).to.match(
        /Accounts 0 Numbers 1 Names 0 Since .*\d\d:\d\d:\d\d Set by Amina opr_\w+ Hash [0-9a-f]{64}/,
      );
      expect(shown.html).to.not.match(/7123456/);
      expect((await setList("kind,value\nnumber,+254712345600\n")).text).to.contain("Already done");
    });

    it("ends no entry of the list before a second person approves it", async () => {
      const sent = await setList("name\nJohn Doe\n");
      expect((await read(holds)).text).to.match(/Numbers 1 Names 0/);
      await proposed(sent);
      expect((await read(holds)).text).to.match(/Numbers 0 Names 1 .* Set by Amina opr_\w+ Brian opr_\w+ Hash/);
    });

    it("names what is wrong with a list or its note, as text", async () => {
      for (const [text, note, problem] of [
        [`${MARKUP},value\n1,2\n`, "<img src=x", /file must be a list of payouts to hold: .*column/],
        ["", "x", /file is required/],
        [AMINAS, " ", /note is required/],
      ] as const) {
        const refused = await setList(text, note);
        expect(refused.status, refused.text).to.equal(400);
        expect(refused.text).to.contain("No list was set").and.match(problem);
        expect(refused.html).to.not.contain("<img");
        expect(fieldsIn(refused.html, holds)["note"]).to.equal(note);
      }
    });

    it("keeps the file for a passkey that must confirm", async () => {
      // A sandbox asks for none.
      const { organizationId: live } = await makeTenant(keys(service.running.database, now), "Live");
      const at = `/${live}/payouts/holds`;
      const link = (await service.links()).find(({ name }) => name === "Amina")?.link;
      const token = await signInWith(service.origin, link);
      const asked = await setList(AMINAS, "passkey", at, token);
      expect(asked.text).to.contain("Use your passkey: set the list");
      const form = fieldsIn(asked.html, at);
      expect(gunzipSync(Buffer.from(form["kept"] ?? "", "base64")).toString()).to.equal(AMINAS);
      expect(form["note"]).to.equal("passkey");
      const file = { field: "file", text: "", name: "" };
      const forged = await ask(service.origin, at, { token, form: { ...form, response_json: "{}" }, file });
      expect(textOf(forged.html)).to.contain("SIGN_IN_REFUSED");
      expect(fieldsIn(forged.html, at)["kept"]).to.equal(form["kept"]);
      expect((await read(at)).text).to.contain("There is no list.");
    });

    it("is a service that two persons set, one tests, and two end", async () => {
      const rules = { url: checks.url, deadline_seconds: "60", no_answer: "hold", note: "our rules" };
      for (const [field, value] of [
        ["deadline_seconds", "5"],
        ["deadline_seconds", "soon"],
        ["url", `${checks.url}?token=${MARKUP}`],
      ] as const) {
        const [refused] = await act("set-check", { ...rules, [field]: value });
        expect(refused?.status, refused?.text).to.equal(400);
        expect(refused?.text).to.match(new RegExp(`Invalid request: .*${field}`));
        expect(refused?.html).to.not.contain("<img");
      }
      const [question, sent] = await act("set-check", rules);
      expect(question?.text)
        .to.contain("this makes a proposal")
        .and.match(
          /Service that is asked first none http\S+ Seconds for an answer none 60 Without an answer none hold/,
        );
      await proposed(sent as Page);
      const shown = await read(holds);
      expect(shown.text)
        .to.match(/Address http\S+ Time for an answer 60 seconds Without an answer .*waits/)
        .and.contain("kesc payouts show-check");
      expect(shown.html).to.not.contain("whsec_");
      const query = /acts\/set-check(\?[^"]*)"/.exec(shown.html)?.[1]?.replaceAll("&amp;", "&") ?? "";
      const [changed, done] = await act(
        "set-check",
        { deadline_seconds: "90", no_answer: "hold", note: "slow" },
        query,
      );
      expect(changed?.text).to.match(/Seconds for an answer 60 90/);
      expect(done?.text).to.contain("Done");
      checks.answer = (response) => response.end('{"decision":"deny","code":"TEST"}');
      expect((await act("test-check", {}))[1]?.text).to.match(/Done .*Answer deny Code TEST/);
      checks.answer = (response) => response.end(MARKUP);
      expect((await act("test-check", {}))[1]?.text).to.match(/No answer its answer is none of the documented ones/);
      await proposed((await act("clear-check", { note: "the list has them" }))[1] as Page);
      expect((await read(holds)).text).to.contain("No service is asked.");
    });

    it("is shown to each role, and changed by those who may", async () => {
      for (const role of ["viewer", "support", "approver"] as const) {
        const page = await read(holds, service.roleKeys[role]);
        expect(page.text, role).to.match(/Names 1.*takes the role finance or admin.*service that is asked needs admin/);
        expect(page.html, role).to.not.contain('type="file"');
      }
    });
  });

  it("is shown where a person must look while its rows wait, and stopped by one person", async () => {
    const { organizationId: organization } = service.demo;
    const operators = new GrpcCaller(service.running.operatorAddress ?? "", { deadlineMillis: 10_000 });
    const text = "user_id,amount\namina,11\n";
    await propose(await look(text), { note: "a wrong month" });
    const as = { key: service.keys.amina, organization };
    await operators.call(Admin.suspendOrganization, { note: "case 17" }, as);
    await service.approveAll();
    operators.close();
    const ofFile = `${path}/${shaOf(text)}`;
    const problem = "The organization is suspended. Resume it, or stop the file.";
    expect((await read(ofFile)).text)
      .to.contain(problem)
      .and.match(/Rows by state State Rows ◐ waiting 1/)
      .and.contain("Stop the file");
    expect((await read(`/${organization}/attention`)).text)
      .to.contain("Files of payouts that wait")
      .and.contain(problem);
    expect((await read(`/${organization}`)).text).to.match(
      /File of payouts [0-9a-f]{8}….*The organization is suspended/,
    );
    const act = `/${organization}/acts/stop-file`;
    const token = service.roleKeys.support;
    const asked = await ask(service.origin, `${act}?sha256=${shaOf(text)}`, { token });
    expect(textOf(asked.html)).to.contain("1 payouts over sandbox, together 11.00 KES");
    const form: Record<string, string> = { ...fieldsIn(asked.html, act), note: "a wrong month" };
    const confirmed = await ask(service.origin, act, { token, form });
    const done =
      form["step"] === "do"
        ? confirmed
        : await ask(service.origin, act, { token, form: fieldsIn(confirmed.html, act) });
    expect(textOf(done.html)).to.contain("Done");
    const after = await read(ofFile);
    expect(after.text)
      .to.match(/Payouts over sandbox ▲ ?stopped/)
      .and.not.contain(problem);
    expect((await read(`/${organization}/attention`)).text).to.not.contain("Files of payouts that wait");
  });
});
