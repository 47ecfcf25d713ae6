import { hash } from "node:crypto";

import { expect } from "chai";

import { leafHash, nodeHash } from "../../src/seals/merkle.js";
import { ENGINES } from "../support/databases.js";
import { SealedService } from "../support/seals/sealed-service.js";
import { fresh, problemOf } from "../support/service/each-engine.js";

const AFTER_LAST_ROW = "/seals/inclusion-proof?sequence=999";

for (const engine of ENGINES) {
  describe(`GetInclusionProof (${engine})`, () => {
    let service: SealedService;
    before(async () => {
      service = await SealedService.start(engine);
    });
    after(() => service.dispose());

    it("proves that a mint is in the book", async () => {
      const id = await service.mint("1000.00");
      await service.seal();
      const { status, json, text } = await service.get(`/seals/inclusion-proof?transaction_id=${id}`);
      expect(status, text).to.equal(200);
      const leaf = json["leaf"] as Record<string, string>;
      const fields = JSON.parse(leaf["text"] ?? "") as string[];
      expect(fields).to.include.members([id, service.running.a.organizationId, "transaction.completed", "100000"]);
      expect(leaf["content_salt"]).to.match(/^[0-9a-f]{32}$/);
      expect(Number(json["leaf_index"])).to.equal(Number(leaf["sequence"]) - 1);
      const checkpoint = json["checkpoint"] as Record<string, string>;
      const hashes = (json["hashes"] as string[]).map((hash) => Buffer.from(hash, "base64"));
      // The mint is the last row, so that all hashes stand to the left of it.
      const root = hashes.reduce((right, left) => nodeHash(left, right), leafHash(leaf["text"] ?? ""));
      expect(root.toString("base64")).to.equal(checkpoint["root_hash"]);
    });

    it("gives all that docs/seals.md needs to compute both hashes of a row", async () => {
      const { running } = service;
      const { key } = running.a;
      const person = { user_id: fresh("user"), phone_number: "0712345678" };
      const { json: account } = await running.rest.send("POST", "/accounts", { key, body: person });
      const reference = fresh("ref");
      const metadata = { till: "4", shop: "1" };
      const body = { account_id: account["id"] ?? "", amount: "12.50", reference, metadata };
      const { json: mint } = await running.rest.send("POST", "/transactions/mint", { key, body });
      const id = String(mint["id"]);
      await service.seal();
      const { json } = await service.get(`/seals/inclusion-proof?transaction_id=${id}`);
      const leaf = json["leaf"] as Record<"text" | "texts" | "texts_salt" | "content_salt", string>;
      const fields = JSON.parse(leaf.text) as string[];
      expect(hash("sha256", leaf.texts_salt + leaf.texts)).to.equal(fields[15]);
      const created = ["MINT", "1250", reference, "", '[["till","4"],["shop","1"]]', "direct", "", ""];
      const kind = "transaction.completed";
      const content = ["kesc-content-1", kind, id, String(account["id"]), fields[14], ...created];
      expect(hash("sha256", leaf.content_salt + JSON.stringify(content))).to.equal(fields[16]);
    });

    it("proves any row by its sequence, and gives no salt of personal data", async () => {
      const { json } = await service.get("/seals/inclusion-proof?sequence=1");
      expect((json["leaf"] as Record<string, string>)["text"]).to.match(/organization\.created/);
      const rows = await Promise.all(
        [2, 3, 4, 5].map((sequence) => service.get(`/seals/inclusion-proof?sequence=${String(sequence)}`)),
      );
      const created = rows.find(({ text }) => text.includes("account.created"));
      expect((created?.json["leaf"] as Record<string, unknown>)["content_salt"] ?? "none").to.equal("none");
    });

    it("refuses a transaction that is not sealed yet, that of another organization, and what is no row", async () => {
      await service.mint("3.00");
      await service.seal();
      const { a, b } = service.running;
      const id = await service.mint("2.00");
      const path = `/seals/inclusion-proof?transaction_id=${id}`;
      const early = await service.get(path);
      expect(problemOf(early)).to.include({ status: 422, code: "NOT_SEALED" });
      expect(early.headers["retry-after"]).to.equal("10");
      expect(problemOf(await service.get(path, b))).to.include({ status: 404, code: "TRANSACTION_NOT_FOUND" });
      const invalid = { status: 400, code: "INVALID_FIELD" };
      expect(problemOf(await service.get("/seals/inclusion-proof"))).to.deep.include({
        ...invalid,
        fields: ["transaction_id"],
      });
      for (const query of [`${path}&sequence=1`, "/seals/inclusion-proof?sequence=0", AFTER_LAST_ROW]) {
        expect(problemOf(await service.get(query, a)), query).to.deep.include({ ...invalid, fields: ["sequence"] });
      }
    });

    it("proves to each organization only its own rows", async () => {
      const { b } = service.running;
      const { json } = await service.get("/seals/inclusion-proof?sequence=1", b);
      expect((json["leaf"] as Record<string, string>)["text"]).to.include(b.organizationId);
    });
  });
}
