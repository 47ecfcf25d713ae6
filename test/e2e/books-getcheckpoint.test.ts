import { expect } from "chai";

import { toUnixMillis } from "../../src/domain/values/time.js";
import { parseSignedNote } from "../../src/seals/note.js";
import { clearAlarm } from "../../src/storage/seals/alarms.js";
import { sealStore } from "../../src/storage/seals/seal-store.js";
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
      const note = parseSignedNote(String(json["signed_note"]));
      expect(note?.origin).to.equal(`kesc.example.com/${service.running.a.organizationId}`);
      expect(note?.size).to.equal(Number(json["size"]));
      expect(Buffer.from(note?.root ?? []).toString("base64")).to.equal(json["root_hash"]);
      expect(String(json["verifier_keys"])).to.match(/^kesc\.example\.com\/org_\S+\+[0-9a-f]{8}\+\S{44}$/);
      expect(json["sealed_at"]).to.match(/^20/);
      expect(json["alarm_raised_at"]).to.equal(null);
    });

    it("returns an earlier checkpoint by its size", async () => {
      const before = (await service.get("/seals/checkpoint")).json;
      await service.mint("2.00");
      await service.seal();
      const after = (await service.get("/seals/checkpoint")).json;
      expect(Number(after["size"])).to.equal(Number(before["size"]) + 2);
      expect((await service.get(`/seals/checkpoint?size=${String(before["size"])}`)).json).to.deep.equal(before);
    });

    it("says when the service found that sealed rows were changed, until somebody has cleared that", async () => {
      const { database, a } = service.running;
      const store = sealStore(database.cells[0]);
      const book = await store.book(a.organizationId);
      if (book === undefined) throw new Error("the organization has no book");
      const alarm = { size: 1, firstSeq: 1, lastSeq: 1, problem: "changed" };
      const now = toUnixMillis(Date.UTC(2026, 10, 22));
      await store.raise(book, alarm, now);
      const raised = (await service.get("/seals/checkpoint")).json;
      expect(raised["alarm_raised_at"]).to.equal("2026-11-22T00:00:00.000Z");
      await clearAlarm(database.cells[0], { book, person: "amina", reason: "restored", now });
      expect((await service.get("/seals/checkpoint")).json["alarm_raised_at"]).to.equal(null);
    });

    it("refuses a size without a checkpoint, and one that is no size", async () => {
      expect(problemOf(await service.get("/seals/checkpoint?size=999"))).to.include({
        status: 404,
        code: "CHECKPOINT_NOT_FOUND",
      });
      for (const size of ["-1", "0"]) {
        expect(problemOf(await service.get(`/seals/checkpoint?size=${size}`)), size).to.deep.include({
          status: 400,
          code: "INVALID_FIELD",
          fields: ["size"],
        });
      }
    });
  });
}
