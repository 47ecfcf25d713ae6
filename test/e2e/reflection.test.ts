import { execFile } from "node:child_process";
import { promisify } from "node:util";

import {
  create,
  createFileRegistry,
  type DescMethod,
  fromBinary,
  fromJson,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { type ServerReflectionRequest, ServerReflectionService } from "../../src/gen/grpc/reflection/v1/reflection.js";
import { readContract } from "../../src/grpc/messages/contract.js";
import type { Method } from "../support/callers/grpc-caller.js";
import { makeThings, rpcRequest } from "../support/callers/rpc-requests.js";
import { newTransactionId } from "../support/names.js";
import type { Things } from "../support/operations/things.js";
import { fresh } from "../support/service/each-engine.js";
import { type Service, sharedService } from "../support/service/service.js";

const run = promisify(execFile);
const { services } = readContract();

/** The same files in an order in which each stands after those that it imports. */
function importsFirst(files: readonly FileDescriptorProto[]): FileDescriptorProto[] {
  const ordered = new Set<FileDescriptorProto>();
  const add = (file: FileDescriptorProto): void => {
    files.filter(({ name }) => file.dependency.includes(name)).forEach(add);
    ordered.add(file);
  };
  files.forEach(add);
  return [...ordered];
}

for (const version of ["v1", "v1alpha"]) {
  describe(`an engineer with reflection (${version}) and no proto file`, () => {
    let service: Service;
    let things: Things;

    before(async () => {
      service = await sharedService("sqlite");
      things = await makeThings(service.rest.bind(service), service.a.key);
    });

    // `buf curl` speaks the protocol of grpcurl, and the package registry has it.
    async function bufCurl(path: string, ...words: string[]): Promise<string> {
      const options = ["--protocol", "grpc", "--http2-prior-knowledge", "--reflect-protocol", `grpc-${version}`];
      const base = `http://${service.grpcAddress}`;
      const ended = await run("node_modules/.bin/buf", ["curl", ...options, ...words, base + path]).catch(
        (error: unknown) => error as { stdout: string; stderr: string },
      );
      return ended.stdout === "" ? ended.stderr : ended.stdout;
    }

    it("lists every service and every rpc", async () => {
      expect((await bufCurl("", "--list-services")).trim().split("\n")).to.include.members([
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
        ...services.map(({ name }) => name),
      ]);
      const paths = services.flatMap(({ rpcs }) => rpcs.map(({ path }) => path.slice(1)));
      expect((await bufCurl("", "--list-methods")).trim().split("\n")).to.include.members(paths);
    });

    it("makes a call, one that is refused, and one that streams, with buf curl", async () => {
      const call = (path: string, request: object): Promise<string> =>
        bufCurl(path, "--header", `x-api-key: ${service.a.key}`, "--data", JSON.stringify(request));
      const movement = (): object => ({ account_id: things.account_id, amount: "1.00", reference: fresh("curled") });
      // The engineer can read the details of one refusal among many results, too.
      const batch = await call("/kesc.v1.TransactionService/BatchCreateTransactions", {
        requests: [{ mint: movement() }, {}],
      });
      expect(batch)
        .to.match(/"amount":\s*"1.00"/)
        .and.match(/"reason":\s*"INVALID_FIELD"/);
      const unknown = { transaction_id: newTransactionId() };
      const refused = await call("/kesc.v1.TransactionService/GetTransaction", unknown);
      expect(JSON.parse(refused)).to.include({ code: "not_found" });
      const imported = { requests: [{ mint: movement() }, { redeem: movement() }] };
      expect(await call("/kesc.v1.TransactionService/ImportTransactions", imported)).to.match(/"amount":\s*"1.00"/);
    });

    /** Builds the rpcs of a service from the files that reflection returns. */
    async function reflectedRpcs(serviceName: string): Promise<readonly DescMethod[]> {
      const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
      const stream = service.grpc.open({ ...ServerReflectionService.serverReflectionInfo, path }, { key: "" });
      const message_request: ServerReflectionRequest["message_request"] = {
        $case: "file_containing_symbol",
        value: serviceName,
      };
      stream.send({ host: "", message_request });
      stream.end();
      await stream.ended;
      const answer = stream.responses[0]?.message_response;
      if (answer?.$case !== "file_descriptor_response") throw new Error(`reflection does not know ${serviceName}`);
      const files = answer.value.file_descriptor_proto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
      const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: importsFirst(files) }));
      return registry.getService(serviceName)?.methods ?? [];
    }

    for (const { name: serviceName, rpcs } of services) {
      it(`calls every rpc of ${serviceName}`, async () => {
        const reflected = await reflectedRpcs(serviceName);
        expect(reflected.map(({ name }) => name)).to.deep.equal(rpcs.map(({ name }) => name.replace(/^.*\//, "")));
        for (const { name, parent, input, output } of reflected) {
          const method: Method<Uint8Array, unknown> = {
            path: `/${parent.typeName}/${name}`,
            requestSerialize: (bytes) => Buffer.from(bytes),
            responseDeserialize: (bytes) => toJson(output, fromBinary(output, bytes)),
          };
          const { request, code = Status.OK } = rpcRequest(`${parent.name}/${name}`);
          // On the wire a stream of one request is a call.
          const call = service.grpc.open(method);
          call.send(toBinary(input, fromJson(input, request(things))));
          call.end();
          const ended = await call.ended;
          expect(Status[ended.code], `${name}: ${ended.message}`).to.equal(Status[code]);
          expect(call.responses, name).to.have.length(code === Status.OK ? 1 : 0);
        }
      });
    }
  });
}
