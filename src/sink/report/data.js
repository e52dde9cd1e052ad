/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data of the page, and what is computed of it. */

const data = JSON.parse(byId('data').textContent);
const kept = data.kept;
const base = BigInt(data.base);

/* What tables are called, and one of their rows; by the index in data.tables. */
const TABLES = [
	{many: 'Functions', one: 'Function', column: 'function'},
	{many: 'Statements', one: 'Statement', column: 'statement'},
	{many: 'Script lines', one: 'Line', column: 'line'},
	{many: data.tables[3].keys ? `By ${data.tables[3].keys}` : 'Keys', one: 'Key', column: 'key'},
];

function nameOf(table, row) {
	return oneLine(data.tables[table].names[row] || '\u2013');
}

const functionName = (row) => nameOf(0, row);

/* ---------------------------------------------------------------- times */

/* The time of day of a time in ns since the beginning. */
function clock(ns, digits = 6) {
	const date = new Date(Number((base + BigInt(Math.max(Math.round(ns), 0))) / 1000000n));
	const fraction = (base + BigInt(Math.max(Math.round(ns), 0))) % 1000000000n;
	const two = (number) => String(number).padStart(2, '0');

	return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}` +
		(digits ? `.${String(fraction).padStart(9, '0').slice(0, digits)}` : '');
}

function dateOf(ns) {
	const date = new Date(Number((base + BigInt(ns)) / 1000000n));
	const two = (number) => String(number).padStart(2, '0');
	const offset = -date.getTimezoneOffset();
	const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;

	return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} UTC${zone}`;
}

/* ---------------------------------------------------------------- columns and levels */

/* floor(log2(number)), for a number of ns. */
function log2(number) {
	return number >= 2 ** 32 ? 63 - Math.clz32(number / 2 ** 32) : 31 - Math.clz32(number);
}

/* The level of a duration: two for each power of two, as the tracer counts them. */
function levelOf(ns) {
	const shift = Math.max(log2(Math.max(ns, 2)) - 1, 0);

	return 2 * shift + Math.floor(ns / 2 ** shift);
}

/* The least duration of a level. */
function levelBegin(level) {
	const block = Math.floor(level / 2);

	return block ? (level % 2 + 2) * 2 ** (block - 1) : level % 2;
}

function columnOf(ns) {
	return Math.floor((ns - data.grid.origin) / data.grid.width);
}

function columnBegin(column) {
	return data.grid.origin + column * data.grid.width;
}
