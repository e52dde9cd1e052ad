'use strict';
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all parts of the page use: elements, numbers as text, the tooltip.
 *
 * The data has texts of the traced process. They become text nodes, and nothing else: no function
 * of this page makes HTML of a string.
 */

/* Characters that are not shown, or that would change the order of others. */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\u{10ff80}-\u{10ffff}]/gu;

/* A text with escapes for what would not be seen. U+10FF80 and more are bytes that are no UTF-8. */
function visible(text) {
	return String(text).replace(HIDDEN, (c) => {
		const code = c.codePointAt(0);

		if (code >= 0x10ff80)
			return `\\x${(code - 0x10ff00).toString(16)}`;
		return `\\u${code.toString(16).padStart(4, '0')}`;
	});
}

/* The same in one line. */
function oneLine(text) {
	return visible(String(text).replace(/\s+/g, ' '));
}

/* Adds children, of which strings become text. */
function append(node, children) {
	for (const child of children.flat())
		if (child !== null && child !== undefined && child !== false)
			node.append(child instanceof Node ? child : document.createTextNode(child));
	return node;
}

/* Makes an element. A member that is a function is called for the event of that name. */
function el(tag, attributes = {}, ...children) {
	const node = document.createElement(tag);

	for (const [name, value] of Object.entries(attributes)) {
		if (typeof value === 'function')
			node.addEventListener(name, value);
		else if (value === true)
			node.setAttribute(name, '');
		else if (value !== false && value !== null && value !== undefined)
			node.setAttribute(name, value);
	}
	return append(node, children);
}

function svg(tag, attributes = {}, ...children) {
	const node = document.createElementNS('http://www.w3.org/2000/svg', tag);

	for (const [name, value] of Object.entries(attributes))
		node.setAttribute(name, value);
	return append(node, children);
}

const byId = (id) => document.getElementById(id);

/* ---------------------------------------------------------------- numbers */

const grouped = new Intl.NumberFormat('en-US');

function count(number) {
	return grouped.format(number);
}

function counted(number, one, many) {
	return `${count(number)} ${number === 1 ? one : many}`;
}

/* 1,234,567 as 1.23M, where there is little room. */
function short(number) {
	if (number < 1e4)
		return count(Math.round(number));
	const power = Math.min(Math.floor(Math.log10(number) / 3), 4);

	return `${(number / 10 ** (3 * power)).toPrecision(3)}${['', 'k', 'M', 'G', 'T'][power]}`;
}

const UNITS = [['ns', 1], ['\u00b5s', 1e3], ['ms', 1e6], ['s', 1e9]];

/* A number of ns with three digits. */
function duration(ns) {
	if (ns < 0)
		return '\u2013';
	if (ns >= 600e9)
		return `${count(Math.round(ns / 60e9))} min`;
	let unit = 0;

	/* 999.6 µs is 1.00 ms. */
	while (unit < UNITS.length - 1 && ns >= UNITS[unit + 1][1] * 0.9995)
		unit++;
	const number = ns / UNITS[unit][1];
	const shown = unit === 0 ? String(Math.round(number))
		: number >= 999.5 ? String(Math.round(number)) : number.toPrecision(3);

	return `${shown} ${UNITS[unit][0]}`;
}

function percent(part, whole) {
	return whole > 0 ? `${(100 * part / whole).toFixed(1)}\u00a0%` : '';
}

/* ---------------------------------------------------------------- the tooltip */

function showTip(lines, x, y) {
	const tip = byId('tip');

	tip.replaceChildren(...lines.map((line) => el('div', {}, oneLine(line))));
	tip.hidden = false;
	const left = Math.min(x + 14, document.documentElement.clientWidth - tip.offsetWidth - 8);
	const top = y + 18 + tip.offsetHeight > window.innerHeight ? y - tip.offsetHeight - 10 : y + 18;

	tip.style.left = `${Math.max(left, 8)}px`;
	tip.style.top = `${Math.max(top, 8)}px`;
}

function hideTip() {
	byId('tip').hidden = true;
}

/* Says a text to those who do not see the page. */
function say(text) {
	byId('said').textContent = oneLine(text);
}

/* ---------------------------------------------------------------- sections and canvases */

const sections = [];

/* Adds a section to the page and to its contents. */
function section(id, title, ...children) {
	const node = el('section', {id, 'aria-labelledby': `${id}-title`},
		el('h2', {id: `${id}-title`}, title), ...children);

	byId('main').append(node);
	sections.push({id, title});
	return node;
}

/* A colour of the style sheet. */
function colour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const redraws = [];

/* Calls draw() now, and when the size, the theme or the medium change. */
function redrawn(draw) {
	redraws.push(draw);
	draw();
}

function redrawAll() {
	for (const draw of redraws)
		draw();
}

/* Gives a canvas a size in CSS pixels, and returns its context. */
function prepare(canvas, width, height) {
	const ratio = window.devicePixelRatio || 1;

	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	canvas.style.height = `${height}px`;
	const context = canvas.getContext('2d');

	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.font = '12px system-ui, sans-serif';
	context.textBaseline = 'middle';
	return context;
}

/* Where an event of the mouse is in an element. */
function placeOf(event, node) {
	const box = node.getBoundingClientRect();

	return {x: event.clientX - box.left, y: event.clientY - box.top};
}

/* Round numbers between two others, about as many as asked for. */
function ticks(from, to, wanted) {
	const rough = (to - from) / Math.max(wanted, 1);
	const power = 10 ** Math.floor(Math.log10(rough || 1));
	const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) || rough;
	const found = [];

	for (let at = Math.ceil(from / step) * step; at <= to && found.length < 100; at += step)
		found.push(at);
	return found;
}
