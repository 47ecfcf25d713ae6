import { get as getHttp } from "node:http";
import { get as getHttps } from "node:https";
import { createServer } from "node:net";

import { credentials, status as Status } from "@grpc/grpc-js";

import { clientCredentials } from "../../../runtime/transport/client-credentials.js";
import { TlsFileError } from "../../../runtime/transport/tls.js";
import type { HostAndPort } from "../../../runtime/variables/forms.js";
import type { Config } from "../../startup/config.js";
import { connectTo } from "../connection.js";
import { type Check, checkNamed, type DoctorFinding } from "./finding.js";

const GRPC_PORT = checkNamed("grpc port");
const HTTP_PORT = checkNamed("http port");

const MILLIS_MAX = 3_000;
const HEALTH_CHECK = "/grpc.health.v1.Health/Check";

export async function checkGrpcPort({ grpcAddress, tls, clientTls }: Config): Promise<DoctorFinding> {
  if (grpcAddress.startsWith("unix:")) {
    return GRPC_PORT.ok(`The server listens on the socket ${grpcAddress}, and replaces a file that a dead one left.`);
  }
  const [, host = "", port = ""] = /^\[?(.*?)\]?:(\d+)$/.exec(grpcAddress) ?? [];
  return judge(GRPC_PORT, "KESC_GRPC_ADDRESS", {
    address: grpcAddress,
    problem: await listenProblem({ host, port: Number(port) }),
    isOurs: () => isGrpc(grpcAddress, { tls, clientTls }),
  });
}

export function checkHttpPort({ host, port }: HostAndPort, hasTls: boolean): Promise<DoctorFinding> {
  const address = `${host.includes(":") ? `[${host}]` : host}:${String(port)}`;
  return listenProblem({ host, port }).then((problem) =>
    judge(HTTP_PORT, "KESC_HTTP_ADDRESS", { address, problem, isOurs: () => isGateway(address, hasTls) }),
  );
}

interface Port {
  readonly address: string;
  /** Why one cannot listen there; undefined if one can. */
  readonly problem: string | undefined;
  readonly isOurs: () => Promise<boolean>;
}

async function judge(
  { ok, warn, fail }: Check,
  variable: string,
  { address, problem, isOurs }: Port,
): Promise<DoctorFinding> {
  if (problem === undefined) return ok(`${address} (${variable}) is free: nothing serves there now.`);
  if (problem !== "EADDRINUSE") {
    return fail(
      `One cannot listen on ${address} (${variable}): ${problem}.`,
      "Set it to an address of this machine, and to a port that this user may use.",
    );
  }
  if (await isOurs()) return ok(`${address} (${variable}) is served.`);
  return warn(
    `${address} (${variable}) is in use, and KESC does not respond there: another program has the port, or the service hangs.`,
    "Find the program (ss -ltnp), and stop it or choose another port.",
  );
}

/** Listens for a moment. Returns the code of the error. */
function listenProblem({ host, port }: HostAndPort): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      resolve(error.code ?? "error");
    });
    server.listen({ host, port, exclusive: true }, () => {
      server.close(() => {
        resolve(undefined);
      });
    });
  });
}

/** Whether a gRPC server with a health check responds, healthy or not. */
function isGrpc(address: string, { tls, clientTls }: Pick<Config, "tls" | "clientTls">): Promise<boolean> {
  const target = address.replace(/^(0\.0\.0\.0|\[::\])(?=:)/, "localhost");
  let secure = credentials.createInsecure();
  try {
    if (tls !== undefined) secure = clientCredentials(target, clientTls);
  } catch (error) {
    if (!(error instanceof TlsFileError)) throw error;
  }
  const client = connectTo(target, secure);
  return new Promise((resolve) => {
    const bytes = (value: Buffer): Buffer => value;
    const options = { deadline: Date.now() + MILLIS_MAX };
    client.makeUnaryRequest(HEALTH_CHECK, bytes, bytes, Buffer.alloc(0), options, (error) => {
      client.close();
      resolve(error === null || ![Status.UNAVAILABLE, Status.DEADLINE_EXCEEDED].includes(error.code));
    });
  });
}

/** Asks for nothing but life, so it trusts any certificate. */
function isGateway(address: string, hasTls: boolean): Promise<boolean> {
  const url = `${hasTls ? "https" : "http"}://${address.replace(/^(0\.0\.0\.0|\[::\])(?=:)/, "localhost")}/livez`;
  const options = { timeout: MILLIS_MAX, rejectUnauthorized: false, agent: false };
  return new Promise((resolve) => {
    const req = (hasTls ? getHttps : getHttp)(url, options, (res) => {
      res.resume();
      resolve(res.statusCode === 200);
    });
    req.once("timeout", () => req.destroy());
    req.once("error", () => {
      resolve(false);
    });
  });
}
