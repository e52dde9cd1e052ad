/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time line of threads, with zoom: the wheel, dragging, and the keys + - 0 and arrows. */

const LINE = {left: 150, lane: 13, gap: 12, top: 24, threads: 20, lanes: 12};

const line = {from: 0, to: 1, threads: [], shown: LINE.threads, drag: null, picked: null};

/* Puts spans, which lie in nothing, into lanes below the others, where they do not overlap. */
function laneSpans(depth, begun, end, first) {
	const free = [];

	for (let i = 0; i < depth.length; i++) {
		if (depth[i] >= 0)
			continue;
		let lane = free.findIndex((time) => time <= begun[i]);

		if (lane < 0)
			lane = free.length;
		free[lane] = end[i];
		depth[i] = first + lane;
	}
	return first + free.length;
}

/* Times since the beginning, and lanes, of a thread. */
function readThread(thread) {
	const begun = [], end = [], lane = thread.depth.slice();
	let at = 0;

	thread.begun.forEach((distance, i) => {
		at += distance;
		begun.push(at);
		end.push(thread.length[i] < 0 ? data.length : at + thread.length[i]);
	});
	/* Depths that were left out take no lanes. */
	const used = [...new Set(lane.filter((depth) => depth >= 0))].sort((a, b) => a - b);
	const places = new Map(used.map((depth, i) => [depth, i]));

	for (let i = 0; i < lane.length; i++)
		lane[i] = lane[i] < 0 ? -1 : places.get(lane[i]);
	const lanes = laneSpans(lane, begun, end, used.length);

	return {thread, begun, end, lane, lanes: Math.min(lanes, LINE.lanes), cut: lane.filter((one) => one >= LINE.lanes).length};
}

function threadName(thread) {
	return `${thread.name ? `${oneLine(thread.name)} ` : ''}${thread.tid}`;
}

function prepareLine() {
	line.threads = data.threads.filter((thread) => thread.begun.length).sort((a, b) => b.time - a.time || b.calls - a.calls).map(readThread);
	line.to = Math.max(data.length, 1);
}

/* ---------------------------------------------------------------- drawing */

function lineTops() {
	let y = LINE.top;

	return line.threads.slice(0, line.shown).map((one) => {
		const top = y;

		y += one.lanes * LINE.lane + LINE.gap;
		return top;
	});
}

function lineHeight() {
	const tops = lineTops();

	return tops.length ? tops[tops.length - 1] + line.threads[tops.length - 1].lanes * LINE.lane + 6 : LINE.top;
}

function drawSlices(context, one, top, scale, width, shades) {
	const last = new Array(one.lanes).fill(-1);

	for (let i = 0; i < one.begun.length; i++) {
		if (one.end[i] < line.from || one.begun[i] > line.to || one.lane[i] >= one.lanes)
			continue;
		const x = Math.max((one.begun[i] - line.from) * scale, 0), lane = one.lane[i];
		const end = Math.min((one.end[i] - line.from) * scale, width);
		const pixel = Math.floor(end);

		/* What ends in a pixel that is full already adds nothing. */
		if (end - x < 1 && last[lane] >= pixel)
			continue;
		last[lane] = pixel;
		context.fillStyle = shades[shadeOf(functionName(one.thread.function[i]))];
		context.fillRect(LINE.left + x, top + lane * LINE.lane, Math.max(end - x - (end - x > 4 ? 0.5 : 0), 1), LINE.lane - 1);
		if (end - x > 40)
			drawLabel(context, functionName(one.thread.function[i]), LINE.left + x, end - x, top + lane * LINE.lane);
	}
}

function drawLabel(context, name, x, width, y) {
	const most = Math.floor((width - 8) / 6);

	if (most < 3)
		return;
	context.fillStyle = colour('frame-text');
	context.fillText(name.length > most ? `${name.slice(0, most - 1)}\u2026` : name, x + 4, y + LINE.lane / 2);
}

function drawLineAxis(context, width, height, scale) {
	context.fillStyle = colour('faint');
	context.textAlign = 'center';
	for (const at of ticks(line.from, line.to, (width - LINE.left) / 120)) {
		const x = LINE.left + (at - line.from) * scale;

		context.globalAlpha = 0.25;
		context.fillRect(x, 16, 1, height - 16);
		context.globalAlpha = 1;
		context.fillText(`+${duration(at)}`, Math.min(Math.max(x, LINE.left + 24), width - 30), 8);
	}
	context.textAlign = 'left';
}

function drawEvents(context, scale, height) {
	context.fillStyle = colour('warn');
	for (const event of data.events) {
		if (event.time < line.from || event.time > line.to)
			continue;
		const x = LINE.left + (event.time - line.from) * scale;

		context.beginPath();
		context.moveTo(x - 4, 15);
		context.lineTo(x + 4, 15);
		context.lineTo(x, 22);
		context.fill();
	}
}

function drawPicked(context, scale, tops, width) {
	const {thread, i} = line.picked, one = line.threads[thread];

	if (tops[thread] === undefined)
		return;
	const x = Math.max((one.begun[i] - line.from) * scale, -2), end = Math.min((one.end[i] - line.from) * scale, width - LINE.left + 2);

	if (end < 0 || x > width - LINE.left)
		return;
	context.strokeStyle = colour('text');
	context.lineWidth = 2;
	context.strokeRect(LINE.left + x, tops[thread] + one.lane[i] * LINE.lane - 1, Math.max(end - x, 2), LINE.lane);
}

function drawLine(canvas) {
	const width = canvas.clientWidth, height = lineHeight(), tops = lineTops();
	const context = prepare(canvas, width, height), scale = (width - LINE.left) / (line.to - line.from);
	const shades = [0, 1, 2, 3, 4, 5].map((i) => colour(`shade${i}`));

	drawLineAxis(context, width, height, scale);
	context.font = '11px system-ui, sans-serif';
	context.save();
	context.beginPath();
	context.rect(LINE.left, 0, width - LINE.left, height);
	context.clip();
	tops.forEach((top, i) => drawSlices(context, line.threads[i], top, scale, width - LINE.left, shades));
	drawEvents(context, scale, height);
	if (line.picked)
		drawPicked(context, scale, tops, width);
	context.restore();
	context.fillStyle = colour('text');
	tops.forEach((top, i) => context.fillText(threadName(line.threads[i].thread).slice(0, 22), 0, top + LINE.lane / 2, LINE.left - 10));
}

/* ---------------------------------------------------------------- moving */

function setView(from, to, canvas) {
	const whole = Math.max(data.length, 1), length = Math.min(Math.max(to - from, Math.min(50, whole)), whole);

	line.from = Math.min(Math.max(from, 0), whole - length);
	line.to = line.from + length;
	drawLine(canvas);
}

function zoomLine(factor, center, canvas) {
	setView(center - (center - line.from) * factor, center + (line.to - center) * factor, canvas);
}

function lineKey(event, canvas) {
	const length = line.to - line.from, middle = (line.from + line.to) / 2;
	const actions = {
		'+': () => zoomLine(0.5, middle, canvas), '=': () => zoomLine(0.5, middle, canvas), '-': () => zoomLine(2, middle, canvas),
		ArrowLeft: () => setView(line.from - length / 5, line.to - length / 5, canvas),
		ArrowRight: () => setView(line.from + length / 5, line.to + length / 5, canvas),
		ArrowUp: () => zoomLine(0.5, middle, canvas), ArrowDown: () => zoomLine(2, middle, canvas),
		0: () => setView(0, data.length, canvas), Home: () => setView(0, data.length, canvas),
	};

	if (!actions[event.key] || event.ctrlKey || event.metaKey)
		return;
	event.preventDefault();
	actions[event.key]();
	say(`From +${duration(line.from)} to +${duration(line.to)}`);
}

function timeAt(x, canvas) {
	return line.from + (x - LINE.left) / (canvas.clientWidth - LINE.left) * (line.to - line.from);
}

/* The call at a place: {thread, i}, or null. */
function sliceAt(place, canvas) {
	const tops = lineTops(), thread = tops.filter((top) => place.y >= top).length - 1;
	const one = line.threads[thread], pixel = (line.to - line.from) / (canvas.clientWidth - LINE.left), at = timeAt(place.x, canvas);

	if (!one || place.x < LINE.left)
		return null;
	const lane = Math.floor((place.y - tops[thread]) / LINE.lane);
	let found = null;

	for (let i = 0; i < one.begun.length && one.begun[i] <= at + pixel; i++)
		if (one.lane[i] === lane && one.end[i] >= at - pixel)
			found = {thread, i};
	return found;
}

function sliceLines({thread, i}) {
	const one = line.threads[thread], length = one.thread.length[i];

	return [functionName(one.thread.function[i]), length < 0 ? 'did not end' : duration(length), `+${duration(one.begun[i])}, ${clock(one.begun[i], 6)}`,
		`thread ${threadName(one.thread)}`];
}

function pick(found, parts) {
	line.picked = found;
	parts.picked.textContent = found ? sliceLines(found).join(' \u00b7 ') : '';
	drawLine(parts.canvas);
}

function dragLine(event, parts) {
	const canvas = parts.canvas, place = placeOf(event, canvas);

	if (line.drag && event.buttons) {
		const distance = (place.x - line.drag.x) / (canvas.clientWidth - LINE.left) * (line.drag.to - line.drag.from);

		line.drag.moved = line.drag.moved || Math.abs(place.x - line.drag.x) > 3;
		setView(line.drag.from - distance, line.drag.to - distance, canvas);
		hideTip();
		return;
	}
	const found = sliceAt(place, canvas);

	if (found)
		showTip(sliceLines(found), event.clientX, event.clientY);
	else
		hideTip();
}

function listenToLine(parts) {
	const canvas = parts.canvas;

	canvas.addEventListener('keydown', (event) => lineKey(event, canvas));
	canvas.addEventListener('wheel', (event) => {
		/* Without the focus, the wheel scrolls the page. */
		if (document.activeElement !== canvas && !event.ctrlKey)
			return;
		event.preventDefault();
		zoomLine(event.deltaY > 0 ? 1.25 : 0.8, timeAt(placeOf(event, canvas).x, canvas), canvas);
	}, {passive: false});
	canvas.addEventListener('pointerdown', (event) => {
		line.drag = {x: placeOf(event, canvas).x, from: line.from, to: line.to, moved: false};
		canvas.setPointerCapture(event.pointerId);
	});
	canvas.addEventListener('pointermove', (event) => dragLine(event, parts));
	canvas.addEventListener('pointerup', (event) => {
		if (line.drag && !line.drag.moved)
			pick(sliceAt(placeOf(event, canvas), canvas), parts);
		line.drag = null;
	});
	canvas.addEventListener('mouseleave', hideTip);
}

/* What the time line does not show. */
function lineNotes() {
	const leftOut = line.threads.reduce((sum, one) => sum + one.thread.leftOut, 0);
	const longest = Math.max(0, ...line.threads.map((one) => (one.thread.leftOut ? one.thread.shortest : 0)));
	const notes = [];

	if (leftOut)
		notes.push(`${counted(leftOut, 'call is', 'calls are')} left out, none longer than ${duration(longest)}.`);
	if (data.otherThreadsCalls)
		notes.push(`${counted(data.otherThreadsCalls, 'call', 'calls')} of further threads are left out: there are too many.`);
	const cut = line.threads.reduce((sum, one) => sum + one.cut, 0);

	if (cut)
		notes.push(`${counted(cut, 'call', 'calls')} within ${LINE.lanes} others are not drawn.`);
	return notes.join(' ');
}

function makeLine() {
	prepareLine();
	const parts = {
		canvas: el('canvas', {id: 'time-line', tabindex: '0', role: 'img',
			'aria-label': 'Time line of threads. Plus and minus zoom, left and right move, 0 shows all.'}),
		picked: el('p', {class: 'picked', 'aria-live': 'polite'}),
	};
	const buttons = [['+', 'Zoom in', 0.5], ['\u2212', 'Zoom out', 2]].map(([text, title, factor]) => el('button', {type: 'button', title,
		'aria-label': title, click: () => zoomLine(factor, (line.from + line.to) / 2, parts.canvas)}, text));
	const more = el('button', {type: 'button', class: 'more', hidden: line.threads.length <= line.shown, click: () => {
		line.shown += LINE.threads;
		more.hidden = line.threads.length <= line.shown;
		drawLine(parts.canvas);
	}}, `Show more of ${counted(line.threads.length, 'thread', 'threads')}`);

	section('threads', 'Time line of threads',
		el('div', {class: 'bar'}, buttons, el('button', {type: 'button', click: () => setView(0, data.length, parts.canvas)}, 'Show all'),
			el('span', {class: 'note'}, 'Drag to move; + and \u2212, or the wheel when the time line has the focus, zoom. ', lineNotes())),
		parts.canvas, parts.picked, more);
	listenToLine(parts);
	redrawn(() => drawLine(parts.canvas));
}
