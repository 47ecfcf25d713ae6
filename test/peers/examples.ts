import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { Service } from "../support/service/service.js";

const FOLDER = "examples/clients";
/** Generators and compilers are slow where they must fetch or compile gRPC first. */
const COMMANDS_MILLIS_MAX = 1_200_000;

/** The clients whose languages nothing else here needs. The head of each has its commands. */
export const PEER_EXAMPLES = [
  { language: "go", file: "client.go", needs: ["go", "protoc"] },
  { language: "java", file: "Client.java", beside: "pom.xml", needs: ["mvn", "protoc", "grpc_java_plugin"] },
  { language: "ruby", file: "client.rb", needs: ["ruby", "grpc_tools_ruby_protoc"] },
  { language: "cpp", file: "client.cpp", needs: ["g++", "pkg-config", "protoc", "grpc_cpp_plugin"] },
] as const satisfies readonly { language: string; file: string; beside?: string; needs: readonly string[] }[];

/** The lines that each prints. An account has another id each time. */
export const PEERS_PRINT = ["account acc_…", "minted 1000.00", "refused: REFERENCE_ALREADY_USED amount"];

export const EXAMPLES_HEAD = ["example", "mints"];

/** Runs the commands in the head of each program. Throws if one prints other lines. */
export async function exampleRows(folder: string): Promise<string[][]> {
  const service = await Service.start("sqlite");
  try {
    return PEER_EXAMPLES.map((example) => {
      const missing = example.needs.filter((program) => spawnSync("which", [program]).status !== 0);
      if (missing.length > 0) return [example.file, `not run: no ${missing.join(", ")}`];
      const place = join(folder, example.language);
      mkdirSync(place);
      copyFileSync(join(FOLDER, example.file), join(place, example.file));
      if ("beside" in example) copyFileSync(join(FOLDER, example.beside), join(place, example.beside));
      const env = {
        ...process.env,
        KESC: resolve("."),
        KESC_API_KEY: service.a.key,
        KESC_ADDRESS: service.grpcAddress,
      };
      const commands = commandsOf(readFileSync(join(FOLDER, example.file), "utf8"));
      const options = { cwd: place, env, timeout: COMMANDS_MILLIS_MAX, encoding: "utf8" } as const;
      const printed = execFileSync("bash", ["-ec", commands], { ...options, stdio: ["ignore", "pipe", "inherit"] });
      const lines = printed.replace(/acc_[a-z0-9]{26}/, "acc_…").split("\n");
      if (!PEERS_PRINT.every((line, index) => lines[index] === line)) throw new Error(`${example.file}: ${printed}`);
      return [example.file, "yes"];
    });
  } finally {
    await service.dispose();
  }
}

/** The indented lines of the comment with which a program begins. */
function commandsOf(program: string): string {
  const [head = ""] = /^(?:(?:\/\/|#).*\n)+/.exec(program) ?? [];
  return [...head.matchAll(/^(?:\/\/|#)(?:\t| {3})(.*)$/gm)].map(([, command = ""]) => command).join("\n");
}
