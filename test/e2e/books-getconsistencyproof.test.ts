import { expect } from "chai";

import { ENGINES } from "../support/databases.js";
import { SealedService } from "../support/seals/sealed-service.js";
import { problemOf } from "../support/service/each-engine.js";

for (const engine of ENGINES) {
  describe(`GetConsistencyProof (${engine})`, () => {
    let service: SealedService;
    let sizes: readonly number[] = [];
    before(async () => {
      service = await SealedService.start(engine);
      const sizeAfter = async (): Promise<number> => {
        await service.mint("1.00");
        await service.seal();
        return Number((await service.get("/seals/checkpoint")).json["size"]);
      };
      sizes = [await sizeAfter(), await sizeAfter(), await sizeAfter()];
    });
    after(() => service.dispose());

    it("proves that the newest checkpoint, or a named one, goes on from an earlier size", async () => {
      const [first, second, third] = sizes;
      const path = `/seals/consistency-proof?old_size=${String(first)}`;
      const newest = await service.get(path);
      expect(newest.status, newest.text).to.equal(200);
      expect((newest.json["checkpoint"] as Record<string, unknown>)["size"]).to.deep.equal(
        (await service.get(`/seals/checkpoint?size=${String(third)}`)).json["size"],
      );
      expect(newest.json["hashes"]).not.to.deep.equal([]);
      const named = await service.get(`${path}&size=${String(second)}`);
      expect(Number((named.json["checkpoint"] as Record<string, unknown>)["size"])).to.equal(second);
    });

    it("needs no hash between equal sizes", async () => {
      const size = String(sizes[2]);
      const { status, json } = await service.get(`/seals/consistency-proof?old_size=${size}&size=${size}`);
      expect(status).to.equal(200);
      expect(json["hashes"]).to.deep.equal([]);
    });

    it("refuses a size that is not sealed, and sizes that make no sense", async () => {
      const problem = async (query: string): Promise<object> =>
        problemOf(await service.get(`/seals/consistency-proof?${query}`));
      await service.mint("1.00");
      const early = String((sizes[2] ?? 0) + 1);
      expect(await problem(`old_size=${early}`)).to.include({ status: 422, code: "NOT_SEALED" });
      expect(await problem("old_size=999")).to.deep.include({ status: 400, fields: ["old_size"] });
      expect(await problem("old_size=1&size=2")).to.include({ status: 404, code: "CHECKPOINT_NOT_FOUND" });
      expect(await problem("old_size=0")).to.deep.include({ status: 400, fields: ["old_size"] });
      expect(await problem("old_size=3&size=2")).to.deep.include({ status: 400, fields: ["size"] });
    });
  });
}
