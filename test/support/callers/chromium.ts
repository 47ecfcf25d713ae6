import { existsSync } from "node:fs";

import { type Browser, chromium } from "playwright-core";

// CHROMIUM names a browser, or Debian's package has put one into its place.
const PLACES = [process.env["CHROMIUM"] ?? "", "/usr/bin/chromium", "/usr/bin/google-chrome"];
const executablePath = PLACES.find((place) => place !== "" && existsSync(place));

/** Why suites with a browser are skipped on this machine. Undefined: they are not. */
export const NO_BROWSER =
  executablePath === undefined
    ? "SKIPPED, there is no Chromium (apt-get install chromium, or CHROMIUM=path)"
    : undefined;

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: executablePath ?? "", args: ["--no-sandbox"] });
}

/** Where `make screenshots` keeps what is seen. Undefined: nothing is kept. */
export const PICTURES_FOLDER = process.env["SCREENSHOTS_INTO"];
