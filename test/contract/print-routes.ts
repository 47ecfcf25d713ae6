import { routeList } from "./route-list.js";

// For `make baseline`: prints what proto/released-routes.txt must be after a release.
process.stdout.write(`${routeList().join("\n")}\n`);
