import { expect } from "chai";

import { parseNote } from "../../src/seals/note.js";
import { ENGINES } from "../support/databases.js";
import { SealedService } from "../support/seals/sealed-service.js";
import { problemOf } from "../support/service/each-engine.js";

for (const engine of ENGINES) {
  describe(`GetCheckpoint (${engine})`, () => {
    let service: SealedService;
    before(async () => {
      service = await SealedService.start(engine);
      await service.mint("1.00");
      await service.seal();
    });
    after(() => service.dispose());

    it("returns the newest checkpoint, with its note and the keys", async () => {
      const { status, json, text } = await service.get("/seals/checkpoint");
      expect(status, text).to.equal(200);
      const note = parseNote(String(json["note"]));
      expect(note?.origin).to.equal(`kesc.example.com/${service.running.a.organizationId}`);
      expect(note?.size).to.equal(Number(json["size"]));
      expect(Buffer.from(note?.root ?? []).toString("base64")).to.equal(json["root_hash"]);
      expect(String(json["verifier_keys"])).to.match(/^kesc\.example\.com\/org_\S+\+[0-9a-f]{8}\+\S{44}$/);
      expect(json["sealed_at"]).to.match(/^20/);
    });

    it("returns an earlier checkpoint by its size", async () => {
      const before = (await service.get("/seals/checkpoint")).json;
      await service.mint("2.00");
      await service.seal();
      const after = (await service.get("/seals/checkpoint")).json;
      expect(Number(after["size"])).to.equal(Number(before["size"]) + 2);
      expect((await service.get(`/seals/checkpoint?size=${String(before["size"])}`)).json).to.deep.equal(before);
    });

    it("refuses a size without a checkpoint, and one that is no size", async () => {
      expect(problemOf(await service.get("/seals/checkpoint?size=999"))).to.include({
        status: 404,
        code: "CHECKPOINT_NOT_FOUND",
      });
      expect(problemOf(await service.get("/seals/checkpoint?size=-1"))).to.deep.include({
        status: 400,
        code: "INVALID_FIELD",
        fields: ["size"],
      });
    });
  });
}
