import { expect } from "chai";

import { TEST_MASTER_KEY } from "../master-key.js";
import { secretsIn } from "./secrets.js";

// A scan that finds nothing proves nothing, unless a test shows that it finds a secret that is
// there.
describe("the scan for secrets", () => {
  for (const text of [
    `"x-api-key":"kesc_0_${"aB3_-".repeat(8)}aB3"`,
    `read the keys ${TEST_MASTER_KEY} from the file`,
    "to +254712345678 it went",
    "phone=0712345678",
    '{"msisdn":254112345678}',
    "ann.b+c@mail.example.co.ke",
    "can't reach postgres://kesc:hunter2@db:5432/kesc",
  ]) {
    it(`finds one in ${text}`, () => {
      expect(secretsIn(text)).to.have.lengthOf(1);
    });
  }

  for (const text of [
    '{"time":"2026-11-20T09:36:00.123Z","request_id":"0d5f2542-7a4c-4f07-9254-712345678abc","ms":12.345}',
    "at node_modules/@grpc/grpc-js/build/src/server.js:712:34567",
    "key_01jd2r6p5vf8ksw3xhb1z7q4ye, 1792345678 bytes",
    "postgres://127.0.0.1:5432/kesc",
    "6f1c2a9e-1234-4234-8234-000172720472",
  ]) {
    it(`finds none in ${text}`, () => {
      expect(secretsIn(text)).to.deep.equal([]);
    });
  }
});
