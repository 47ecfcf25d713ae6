import { expect } from "chai";

import { leafHash, nodeHash } from "../../src/seals/merkle.js";
import { ENGINES } from "../support/databases.js";
import { SealedService } from "../support/seals/sealed-service.js";
import { problemOf } from "../support/service/each-engine.js";

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

    it("proves any row by its sequence, and gives no salt of personal data", async () => {
      const { json } = await service.get("/seals/inclusion-proof?sequence=1");
      expect((json["leaf"] as Record<string, string>)["text"]).to.match(/organization\.created/);
      const rows = await Promise.all(
        [2, 3, 4, 5].map((sequence) => service.get(`/seals/inclusion-proof?sequence=${String(sequence)}`)),
      );
      const created = rows.find(({ text }) => text.includes("account.created"));
      expect((created?.json["leaf"] as Record<string, unknown>)["content_salt"] ?? "none").to.equal("none");
    });

    it("refuses a transaction that is not sealed yet, that of another organization, and no row at all", async () => {
      await service.mint("3.00");
      await service.seal();
      const { a, b } = service.running;
      const id = await service.mint("2.00");
      const path = `/seals/inclusion-proof?transaction_id=${id}`;
      expect(problemOf(await service.get(path))).to.include({ status: 422, code: "NOT_SEALED" });
      expect(problemOf(await service.get(path, b))).to.include({ status: 404, code: "TRANSACTION_NOT_FOUND" });
      expect(problemOf(await service.get("/seals/inclusion-proof?sequence=999"))).to.include({ code: "NOT_SEALED" });
      const invalid = { status: 400, code: "INVALID_FIELD" };
      expect(problemOf(await service.get("/seals/inclusion-proof"))).to.deep.include({
        ...invalid,
        fields: ["transaction_id"],
      });
      expect(problemOf(await service.get(`${path}&sequence=1`, a))).to.deep.include({
        ...invalid,
        fields: ["sequence"],
      });
    });

    it("proves to each organization only its own rows", async () => {
      const { b } = service.running;
      const { json } = await service.get("/seals/inclusion-proof?sequence=1", b);
      expect((json["leaf"] as Record<string, string>)["text"]).to.include(b.organizationId);
    });
  });
}
