/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flame graph: of stacks, or of traced calls in each other. Frames are buttons, the outermost
 * on top; those narrower than a pixel are left out until one zooms in.
 */

const FRAME = {height: 21, least: 0.0012, most: 6000};

const flame = {weight: 'time', zoom: 0, words: '', children: [], sums: {}, layout: new Map(), focus: 0};

const flameName = (node) => (node ? oneLine(data.flame.names[data.flame.name[node]]) : 'all');

/* Sums of each node with those below it: a child is behind its parent. */
function flameSums(own) {
	const sums = own.slice();

	for (let i = sums.length - 1; i > 0; i--)
		sums[data.flame.parent[i]] += sums[i];
	return sums;
}

function prepareFlame() {
	const parents = data.flame.parent;

	flame.children = parents.map(() => []);
	for (let i = 1; i < parents.length; i++)
		flame.children[parents[i]].push(i);
	flame.sums = {time: flameSums(data.flame.time), calls: flameSums(data.flame.calls)};
	if (!flame.sums.time[0])
		flame.weight = 'calls';
}

function ancestors(node) {
	const found = [];

	for (let i = node; i; i = data.flame.parent[i])
		found.unshift(data.flame.parent[i]);
	return found;
}

/* Gives each frame that is wide enough its place: {left, width, row}, as parts of the whole. */
function layOut() {
	const sums = flame.sums[flame.weight], above = ancestors(flame.zoom);
	const waiting = [{node: flame.zoom, left: 0, width: 1, row: above.length}];

	flame.layout = new Map(above.map((node, row) => [node, {left: 0, width: 1, row, isAbove: true}]));
	/* Breadth first: if there are too many, the innermost are left out. */
	for (let i = 0; i < waiting.length && i < FRAME.most; i++) {
		const {node, left, width, row} = waiting[i];
		let at = left;

		flame.layout.set(node, {left, width, row});
		for (const child of flame.children[node].slice().sort((a, b) => sums[b] - sums[a])) {
			const part = sums[node] ? width * sums[child] / sums[node] : 0;

			if (part >= FRAME.least)
				waiting.push({node: child, left: at, width: part, row: row + 1});
			at += part;
		}
	}
}

/* ---------------------------------------------------------------- search */

function matches(node) {
	return node > 0 && flame.words !== '' && flameName(node).toLowerCase().includes(flame.words.toLowerCase());
}

/* The sum of the matching frames that are in no other matching one. */
function matchedSum() {
	const sums = flame.sums[flame.weight], inside = new Array(sums.length).fill(false);
	let sum = 0, frames = 0;

	for (let i = 1; i < sums.length; i++) {
		const isMatch = matches(i), isInside = inside[data.flame.parent[i]];

		inside[i] = isMatch || isInside;
		frames += isMatch;
		if (isMatch && !isInside)
			sum += sums[i];
	}
	return {sum, frames};
}

/* ---------------------------------------------------------------- frames */

function weightText(number) {
	return flame.weight === 'time' ? duration(number) : counted(number, 'call', 'calls');
}

function frameLines(node) {
	const sums = flame.sums[flame.weight], own = data.flame[flame.weight][node];

	return [flameName(node), `${weightText(sums[node])}, ${percent(sums[node], sums[0])}`,
		...(own && own !== sums[node] ? [`of its own: ${weightText(own)}`] : [])];
}

/* A shade of a name: always the same one. */
function shadeOf(name) {
	let hash = 0;

	for (let i = 0; i < name.length; i++)
		hash = (hash * 31 + name.charCodeAt(i)) % 1009;
	return hash % 6;
}

function frame(node, place, parts) {
	const name = flameName(node), found = flame.words && matches(node);
	const state = place.isAbove ? ' above' : found ? ' match' : flame.words ? ' other' : '';
	const button = el('button', {type: 'button', class: `frame shade${node ? shadeOf(name) : 'less'}${state}`, 'data-node': node,
		tabindex: node === flame.focus ? '0' : '-1', 'aria-label': frameLines(node).join(', '), click: () => zoomTo(node, parts),
		mousemove: (event) => showTip(frameLines(node), event.clientX, event.clientY), mouseleave: hideTip,
		focus: () => say(frameLines(node).join(', '))}, place.width > 0.02 ? name : '');

	button.style.left = `${100 * place.left}%`;
	button.style.width = `${100 * place.width}%`;
	button.style.top = `${FRAME.height * place.row}px`;
	return button;
}

function drawFlame(parts) {
	layOut();
	if (!flame.layout.has(flame.focus))
		flame.focus = flame.zoom;
	const rows = [...flame.layout.values()].reduce((most, place) => Math.max(most, place.row), 0) + 1;

	parts.frames.style.height = `${rows * FRAME.height + 1}px`;
	parts.frames.replaceChildren();
	append(parts.frames, [...flame.layout].map(([node, place]) => frame(node, place, parts)));
	parts.reset.hidden = flame.zoom === 0;
	if (flame.words) {
		const {sum, frames} = matchedSum();

		parts.found.textContent = `${counted(frames, 'frame', 'frames')}, ${percent(sum, flame.sums[flame.weight][0]) || '0 %'} of ${flame.weight}`;
	} else {
		parts.found.textContent = '';
	}
}

function zoomTo(node, parts) {
	const hadFocus = parts.frames.contains(document.activeElement);

	flame.zoom = flame.focus = node;
	hideTip();
	drawFlame(parts);
	if (hadFocus)
		focusFrame(node, parts);
}

function focusFrame(node, parts) {
	const button = parts.frames.querySelector(`[data-node="${node}"]`);

	if (!button)
		return;
	for (const other of parts.frames.querySelectorAll('[tabindex="0"]'))
		other.setAttribute('tabindex', '-1');
	flame.focus = node;
	button.setAttribute('tabindex', '0');
	button.focus();
}

/* The shown frame that a key leads to, or null. */
function neighbour(key) {
	const place = flame.layout.get(flame.focus);
	const inRow = (row) => [...flame.layout].filter(([, one]) => one.row === row).sort((a, b) => a[1].left - b[1].left).map(([node]) => node);

	if (key === 'ArrowUp')
		return flame.focus ? data.flame.parent[flame.focus] : null;
	if (key === 'ArrowDown')
		return inRow(place.row + 1).find((node) => data.flame.parent[node] === flame.focus) ?? null;
	const row = inRow(place.row);

	return row[row.indexOf(flame.focus) + (key === 'ArrowRight' ? 1 : -1)] ?? null;
}

function flameKey(event, parts) {
	if (event.key === 'Escape') {
		zoomTo(0, parts);
	} else if (event.key.startsWith('Arrow')) {
		const node = neighbour(event.key);

		if (node !== null)
			focusFrame(node, parts);
	} else {
		return;
	}
	event.preventDefault();
}

function makeFlame() {
	const parts = {
		frames: el('div', {class: 'frames', role: 'group', 'aria-label': 'Flame graph. Arrow keys move, Enter zooms in, Escape shows all.'}),
		found: el('span', {class: 'count', 'aria-live': 'polite'}),
		reset: el('button', {type: 'button', click: () => zoomTo(0, parts)}, 'Show all'),
	};
	const search = el('input', {type: 'search', id: 'flame-search', placeholder: 'Search frames \u2026', 'aria-label': 'Search frames', input: () => {
		flame.words = search.value;
		drawFlame(parts);
	}});

	prepareFlame();
	const weights = ['time', 'calls'];

	parts.frames.addEventListener('keydown', (event) => flameKey(event, parts));
	section('flame', 'Flame graph',
		el('div', {class: 'bar'}, choiceButtons('Width of frames', ['Time', 'Calls'], weights.indexOf(flame.weight), (i) => {
			flame.weight = weights[i];
			drawFlame(parts);
		}), search, parts.reset, parts.found),
		el('p', {class: 'note'}, data.flame.ofStacks ? 'Stacks that calls were made from, the outermost frame on top.'
			: 'Traced calls within traced calls, the outermost on top.',
		data.flame.leftOut ? ` ${counted(data.flame.leftOut, 'call is', 'calls are')} not in it: there were too many different stacks.` : ''),
		parts.frames);
	drawFlame(parts);
}
