// SPDX-License-Identifier: GPL-2.0-or-later
// usage: node speedscope.js DIRECTORY FILE…
// Imports files by speedscope's own code (the npm package's folder dist/release) and prints a line of JSON for each: null
// for one that it does not know, or else its profiles with {name, calls, weight}; calls: {name: how often it is opened}.
//
// The package has one script for a page. Its importer needs no page, so everything else of a page is a stand-in here.
"use strict";
const fs = require("fs");
const path = require("path");

const [directory, ...files] = process.argv.slice(2);
const name = fs.readdirSync(directory).find((file) => /^speedscope-.*\.js$/.test(file));
const script = fs.readFileSync(path.join(directory, name), "utf8");
const importer = script.match(/async function \w+\(\w+,\w+\)\{return\(await (\w+)\)\.importProfileGroupFromText\(/)[1];
const anything = new Proxy(function () {}, {
	get: (_, key) => (key === Symbol.toPrimitive ? () => "" : key === "then" ? undefined : anything),
	apply: () => anything, construct: () => anything, set: () => true, has: () => true,
});

console.log = console.time = console.timeEnd = () => {};
Object.assign(globalThis, {window: anything, document: anything, localStorage: anything, requestAnimationFrame: () => 0,
	location: {hash: "", href: "http://localhost/", search: "", protocol: "http:"}});
Object.defineProperty(globalThis, "navigator", {value: {userAgent: "", platform: ""}, configurable: true});
try {
	(0, eval)(script.replace(`${importer}.then(`, `globalThis.importer=${importer};${importer}.then(`));
} catch {
	// The page cannot be drawn.
}

async function main() {
	const {importProfileGroupFromText} = await globalThis.importer;

	for (const file of files) {
		const group = await importProfileGroupFromText(file, fs.readFileSync(file, "utf8"));
		const profiles = group && group.profiles.map((profile) => {
			const calls = {};

			profile.forEachCall((node) => {
				calls[node.frame.name] = (calls[node.frame.name] || 0) + 1;
			}, () => {});
			return {name: profile.getName(), calls, weight: profile.getTotalWeight()};
		});
		process.stdout.write(JSON.stringify(profiles || null) + "\n");
	}
}

main().then(() => process.exit(0), (error) => {
	process.stderr.write(`${error.stack}\n`);
	process.exit(1);
});
