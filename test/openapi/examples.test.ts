import { hash } from "node:crypto";

import { expect } from "chai";

import { type DocumentedResponse, OPENAPI, OPERATIONS, resolved, type Schema } from "../support/openapi/document.js";
import { exampleRequest, parametersOf, targetOf } from "../support/openapi/example-requests.js";
import { differences } from "../support/openapi/schemas.js";
import { type InProcess, startInProcess } from "../support/service/in-process.js";

/** The gateway or the server could not even read the request. */
const OF_VALIDATION = [
  "INVALID_FIELD",
  "MALFORMED_REQUEST",
  "MALFORMED_BODY",
  "UNSUPPORTED_MEDIA_TYPE",
  "BODY_TOO_LARGE",
  "REQUEST_TOO_LARGE",
  "NO_SUCH_ROUTE",
  "METHOD_NOT_ALLOWED",
];

describe("the examples of the OpenAPI document", () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess("sqlite");
  });
  after(() => service.dispose());

  for (const found of OPERATIONS) {
    const { operation, method } = found;
    it(`of ${operation.operationId}: the service takes the request`, async () => {
      const request = exampleRequest(found);
      const call = { key: service.a.key, body: request.body };
      const { status, json, text } = await service.rest.send(method.toUpperCase(), targetOf(found, request), call);
      expect(OF_VALIDATION, text).not.to.include(json["code"]);
      expect([200, 201, 404, 422], text).to.include(status);
    });

    it(`of ${operation.operationId}: each value is as its schema says`, () => {
      const { body } = exampleRequest(found);
      const media = operation.requestBody?.content["application/json"];
      if (media !== undefined) expect(differences(media.schema, body), "the body").to.deep.equal([]);
      for (const { name, schema, example } of [...parametersOf(found, "path"), ...parametersOf(found, "query")]) {
        if (example !== undefined) expect(differences(schema, example), name).to.deep.equal([]);
      }
      for (const [status, response] of Object.entries(operation.responses)) {
        for (const [type, { schema, example }] of Object.entries(
          resolved<DocumentedResponse>(response).content ?? {},
        )) {
          if (example !== undefined) expect(differences(schema, example), `${status} ${type}`).to.deep.equal([]);
        }
      }
    });
  }

  it("of a leaf have both hashes that docs/seals.md describes", () => {
    const found = OPERATIONS.find(({ operation }) => operation.operationId === "GetInclusionProof");
    const { content } = resolved<DocumentedResponse>(found?.operation.responses["200"] ?? { content: {} });
    const { leaf } = content?.["application/json"]?.example as { leaf: Record<string, string> };
    const { text = "", texts = "", texts_salt: salt = "" } = leaf;
    const fields = JSON.parse(text) as string[];
    expect([fields.length, fields[0], (JSON.parse(texts) as string[])[0]]).to.deep.equal([
      17,
      "kesc-row-1",
      "kesc-texts-1",
    ]);
    expect(salt).to.match(/^[0-9a-f]{32}$/);
    expect(fields[15]).to.equal(hash("sha256", salt + texts));
  });

  it("of lines and events have items as their schemas say", () => {
    let count = 0;
    for (const { operation } of OPERATIONS) {
      const response = resolved<DocumentedResponse>(operation.responses["200"] ?? { content: {} });
      const forms = { ...response.content, ...response["x-streams"] };
      for (const [type, { schema, example }] of Object.entries(forms)) {
        const item = schema["x-item-schema"] as Schema | undefined;
        if (item === undefined) continue;
        const json = type === "text/event-stream" ? /^data: (.*)$/m.exec(String(example))?.[1] : String(example);
        expect(differences(item, JSON.parse(json ?? "")), `${operation.operationId} ${type}`).to.deep.equal([]);
        count += 1;
      }
    }
    expect(count).to.equal(5);
  });

  for (const [code, { value }] of Object.entries(OPENAPI.components.examples)) {
    it(`of ${code} is as its schema says, with all of its facts`, () => {
      const schema = Object.values(OPENAPI.components.schemas).find(
        ({ properties }) => (properties as Record<string, Schema> | undefined)?.["code"]?.["const"] === code,
      );
      expect(differences(schema ?? {}, value)).to.deep.equal([]);
      const { properties } = schema as { properties: Record<string, unknown> };
      expect(value).to.include.all.keys(Object.keys(properties));
    });
  }
});
