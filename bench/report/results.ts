import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Machine } from "./machine.js";
import type { PartReport } from "./report.js";

const FOLDER = join(import.meta.dirname, "../../../bench/results");
/** A build with local changes has "-dirty" in its file's name: its figures are not shown. */
const CLEAN = /^\d{4}-\d{2}-\d{2}-[0-9a-f]+\.json$/;

/** The processor time of a call by the code that used it. */
export interface Profile {
  at: string;
  machine: Machine;
  /** The kinds of calls. */
  calls: string[];
  /** Microseconds a call for each kind; null where the code had no part in it. */
  rows: { name: string; micros: (number | null)[] }[];
}

/** The figures of one build on one day. */
export interface Results {
  parts: Record<string, PartReport>;
  profile?: Profile;
}

/** Writes results into the file of their day and build. Returns the file's path. */
export function keep({ at, machine }: { at: string; machine: Machine }, results: Partial<Results>): string {
  mkdirSync(FOLDER, { recursive: true });
  const file = join(FOLDER, `${at.slice(0, 10)}-${machine.commit}.json`);
  const before = existsSync(file) ? read(file) : { parts: {} };
  const kept = { ...before, ...results, parts: { ...before.parts, ...results.parts } };
  const json = JSON.stringify(kept, undefined, 2);
  // A row or a figure takes one line, so that a difference of two files can be read.
  const short = json.replace(/\[\n[^[\]{}]*\]/g, onOneLine).replace(/\{\n[^{}]*\}/g, onOneLine);
  writeFileSync(file, `${short}\n`);
  return file;
}

/** The newest report of each part, of builds without local changes. */
export function newestResults(): Results {
  const all = readdirSync(FOLDER).filter((name) => CLEAN.test(name));
  const results = all.map((name) => read(join(FOLDER, name)));
  const parts = results.flatMap((one) => Object.entries(one.parts)).toSorted(([, a], [, b]) => byTime(a, b));
  return { parts: Object.fromEntries(parts) };
}

function read(file: string): Results {
  return JSON.parse(readFileSync(file, "utf8")) as Results;
}

function byTime(left: { at: string }, right: { at: string }): number {
  return left.at.localeCompare(right.at);
}

function onOneLine(json: string): string {
  return json.replace(/\n\s*/g, " ");
}
