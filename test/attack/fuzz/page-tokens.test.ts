import type { JsonObject } from "@bufbuild/protobuf";
import { expect } from "chai";
import fc from "fast-check";

import type { Route } from "../../../contract/contract.js";
import { bytesOf, jsonMethod, ROUTES, textOf } from "../../support/callers/contract-requests.js";
import type { GrpcReply } from "../../support/callers/grpc-caller.js";
import { type InProcess, startInProcess } from "../../support/service/in-process.js";
import type { Tenant } from "../../support/service/tenants.js";
import { givenThings } from "./given-things.js";
import { PROPERTY_MILLIS_MAX, runs } from "./runs.js";

const RUNS = 100;
const FILTERS: readonly JsonObject[] = [
  {},
  { statuses: [1] },
  { statuses: [3] },
  { statuses: [1, 3] },
  { phone_number: "0712345678" },
  { type: 1 },
  { min_amount: "0.01" },
  { max_amount: "9999999999999.99" },
  { end: "2100-01-01T00:00:00Z" },
  { metadata: { a: "1" } },
  { metadata: { a: "2" } },
];
const DIGEST_OFFSET = 9; // behind the version and the position

/** A list as one caller sees it, and the token of its second page. */
interface Listed {
  readonly route: Route;
  readonly tenant: Tenant;
  readonly filters: JsonObject;
  readonly ids: readonly string[];
  readonly token: string;
}

describe("fuzz: page tokens", function () {
  this.timeout(PROPERTY_MILLIS_MAX);
  let service: InProcess;
  const lists: Listed[] = [];

  function page({ route, tenant, filters }: Listed, more: JsonObject): Promise<GrpcReply<JsonObject | undefined>> {
    const { key } = tenant;
    return service.grpc.call(jsonMethod(route.rpc), bytesOf(route.rpc.input, { ...filters, ...more }), { key });
  }

  /** The ids of the rows in the one repeated field. */
  function idsIn({ response = {} }: GrpcReply<JsonObject | undefined>): string[] {
    const rows = Object.values(response).find(Array.isArray) as { id: string }[] | undefined;
    return (rows ?? []).map(({ id }) => id);
  }

  before(async () => {
    service = await startInProcess("sqlite");
    for (let round = 0; round < 3; round += 1) await givenThings(service).catch(() => undefined);
    // The list of one resource must name it. The test of its rpc compares tokens of several
    // resources.
    const routes = ROUTES.filter(
      ({ rpc, pathFields }) => pathFields.length === 0 && rpc.input.fields.some(({ name }) => name === "page_token"),
    );
    for (const route of routes) {
      for (const tenant of [service.a, service.b]) {
        for (const filters of FILTERS) {
          if (Object.keys(filters).some((name) => route.rpc.input.fields.every((field) => field.name !== name)))
            continue;
          const list = { route, tenant, filters, ids: [], token: "" };
          const token = textOf((await page(list, { page_size: 1 })).response?.["next_page_token"]);
          lists.push({ ...list, ids: idsIn(await page(list, {})), token });
        }
      }
    }
  });
  after(() => service.dispose());

  it("each leads on in its own list, and every other list refuses it", async () => {
    for (const from of lists.filter(({ token }) => token !== "")) {
      for (const to of lists) {
        const answer = await page(to, { page_token: from.token });
        if (from === to) expect(idsIn(answer)).to.deep.equal(to.ids.slice(1));
        else expect(answer.fields?.map(({ field }) => field)).to.deep.equal(["page_token"]);
      }
    }
  });

  it("a damaged one is refused, or shows only rows of the list", async () => {
    const withToken = lists.filter(({ token }) => token !== "");
    expect(withToken.length).to.be.greaterThan(2);
    const damage = fc.oneof(
      fc.record({ way: fc.constant("flip" as const), at: fc.nat(20), bit: fc.nat(7) }),
      fc.record({ way: fc.constant("cut" as const), length: fc.nat(27) }),
      fc.record({ way: fc.constant("append" as const), more: fc.constantFrom("A", "=", "==", ".", "\n", "AAAA") }),
      fc.record({ way: fc.constant("replace" as const), text: fc.base64String({ maxLength: 60 }) }),
    );
    const check = async (
      index: number,
      how: typeof damage extends fc.Arbitrary<infer How> ? How : never,
    ): Promise<void> => {
      const list = withToken[index % withToken.length];
      if (list === undefined) throw new Error("no list has a second page");
      const bytes = Buffer.from(list.token, "base64url");
      if (how.way === "flip") bytes.writeUInt8(bytes.readUInt8(how.at) ^ (1 << how.bit), how.at);
      const flipped = bytes.toString("base64url");
      const token = {
        flip: flipped,
        cut: list.token.slice(0, how.way === "cut" ? how.length : 0),
        append: list.token + (how.way === "append" ? how.more : ""),
        replace: how.way === "replace" ? how.text : "",
      }[how.way];
      const answer = await page(list, { page_token: token, page_size: 1_000 });
      const position = how.way === "flip" && how.at > 0 && how.at < DIGEST_OFFSET;
      if (answer.code === 0 && token !== "") {
        // The position is no secret: a caller may ask for that page anyway.
        expect(position, token).to.equal(true);
        expect(list.ids).to.include.members(idsIn(answer));
      } else if (token !== "") expect(answer.fields?.map(({ field }) => field)).to.deep.equal(["page_token"]);
    };
    await fc.assert(fc.asyncProperty(fc.nat(1_000), damage, check), runs(RUNS));
  });
});
