/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Durations over time: a heat map, with the calls over time above it and the histogram of
 * durations on its right. A cell, a column or a level can be chosen: its calls are listed.
 */

const HEAT = {left: 76, right: 190, top: 56, bottom: 26, level: 13, gap: 8};

const heat = {cursor: null, low: 0, high: 0, cells: new Map()};

function findHeat(table, row) {
	return data.heat.find((one) => one.table === table && one.row === row) || null;
}

/* Calls f(column, level, count) for each cell that has calls. */
function eachCell(map, f) {
	for (let i = 0; i < map.cells.length; i += 3)
		f(map.cells[i], map.cells[i + 1], map.cells[i + 2]);
}

function countArea(map, area) {
	let sum = 0;

	eachCell(map, (column, level, number) => {
		if (column >= area.from && column <= area.to && level >= area.low && level <= area.high)
			sum += number;
	});
	return sum;
}

/* Sums by column and by level, and the greatest of each. */
function sumUp(map) {
	const columns = new Array(data.grid.columns).fill(0), levels = new Map();
	let most = 0;

	heat.cells = new Map();
	eachCell(map, (column, level, number) => {
		columns[column] += number;
		levels.set(level, (levels.get(level) || 0) + number);
		heat.cells.set(column * 1000 + level, number);
		most = Math.max(most, number);
	});
	heat.low = Math.min(...levels.keys());
	heat.high = Math.max(...levels.keys());
	return {columns, levels, most};
}

function geometry(canvas) {
	const width = canvas.clientWidth, levels = heat.high - heat.low + 1;
	const right = width < 640 ? 90 : HEAT.right;
	const step = (width - HEAT.left - right) / data.grid.columns;
	const level = levels < 12 ? 20 : levels < 24 ? 15 : HEAT.level;

	return {width, step, level, right: width - right, height: HEAT.top + levels * level + HEAT.bottom, bottom: HEAT.top + levels * level};
}

function drawCells(context, g, sums) {
	context.fillStyle = colour('heat');
	for (const [key, number] of heat.cells) {
		const column = Math.floor(key / 1000), level = key % 1000;

		/* By the logarithm: a cell with one call has to be seen beside one with a million. */
		context.globalAlpha = 0.22 + 0.78 * (sums.most > 1 ? Math.log(number) / Math.log(sums.most) : 1);
		context.fillRect(HEAT.left + column * g.step, HEAT.top + (heat.high - level) * g.level, Math.max(g.step - (g.step > 4 ? 1 : 0), 1), g.level - 1);
	}
	context.globalAlpha = 1;
}

function drawStrip(context, g, sums) {
	const most = Math.max(...sums.columns, 1), room = HEAT.top - HEAT.gap - 14;

	context.fillStyle = colour('bar');
	sums.columns.forEach((number, i) => {
		const height = number ? Math.max(room * number / most, 1) : 0;

		context.fillRect(HEAT.left + i * g.step, HEAT.top - HEAT.gap - height, Math.max(g.step - (g.step > 4 ? 1 : 0), 1), height);
	});
	context.fillStyle = colour('faint');
	context.fillText(`${short(most)} calls / ${duration(data.grid.width)}`, HEAT.left, 7);
}

function drawHistogram(context, g, sums) {
	const most = Math.max(...sums.levels.values(), 1), left = g.right + 10, room = g.width - left - 62;

	for (const [level, number] of sums.levels) {
		const y = HEAT.top + (heat.high - level) * g.level, length = Math.max(room * number / most, 1);

		context.fillStyle = colour('bar');
		context.fillRect(left, y + 1, length, g.level - 3);
		context.fillStyle = colour('faint');
		context.fillText(short(number), left + length + 5, y + g.level / 2);
	}
}

function drawAxes(context, g) {
	context.fillStyle = colour('faint');
	context.textAlign = 'right';
	for (let level = heat.low; level <= heat.high + 1; level++) {
		const y = HEAT.top + (heat.high + 1 - level) * g.level;

		if (level % 4)
			continue;
		context.fillText(duration(levelBegin(level)), HEAT.left - 10, y);
		context.fillRect(HEAT.left - 6, Math.round(y) - 0.5, g.right - HEAT.left + 6, 0.3);
	}
	context.textAlign = 'center';
	const end = columnBegin(data.grid.columns);

	for (const at of ticks(data.grid.origin, end, g.width / 130)) {
		const x = HEAT.left + (at - data.grid.origin) / data.grid.width * g.step;

		if (x < HEAT.left)
			continue;
		context.fillRect(x, g.bottom, 1, 4);
		context.fillText(at <= 0 ? clock(0, 0) : `+${duration(at)}`, Math.max(x, HEAT.left + 20), g.bottom + 14);
	}
	context.textAlign = 'left';
}

function outline(context, g, area, style, width) {
	context.strokeStyle = style;
	context.lineWidth = width;
	context.strokeRect(HEAT.left + area.from * g.step - 1, HEAT.top + (heat.high - area.high) * g.level - 1,
		(area.to - area.from + 1) * g.step + 1, (area.high - area.low + 1) * g.level + 1);
}

function drawHeat(canvas) {
	const map = calls.row && findHeat(calls.row.table, calls.row.row) || data.heat[0];

	heat.map = map;
	heat.sums = sumUp(map);
	const g = geometry(canvas);
	const context = prepare(canvas, g.width, g.height);

	drawAxes(context, g);
	drawCells(context, g, heat.sums);
	drawStrip(context, g, heat.sums);
	drawHistogram(context, g, heat.sums);
	if (calls.area)
		outline(context, g, calls.area, colour('text'), 2);
	if (heat.cursor && document.activeElement === canvas)
		outline(context, g, heat.cursor, colour('accent'), 2);
}

/* ---------------------------------------------------------------- choosing */

/* The area at a place: a cell, a column above the cells, a level on their right; or null. */
function areaAt(canvas, place) {
	const g = geometry(canvas);
	const column = Math.floor((place.x - HEAT.left) / g.step);
	const level = heat.high - Math.floor((place.y - HEAT.top) / g.level);
	const isColumn = place.y < HEAT.top, isLevel = place.x > g.right;
	const last = data.grid.columns - 1;

	if (place.x < HEAT.left || (isColumn && isLevel) || (!isColumn && level < heat.low) || (!isLevel && column > last))
		return null;
	return {from: isLevel ? 0 : column, to: isLevel ? last : column, low: isColumn ? heat.low : level,
		high: isColumn ? heat.high : level, isColumn, isLevel};
}

function areaLines(area) {
	const number = countArea(heat.map, area);

	return [counted(number, 'call', 'calls'), areaText(area)];
}

function chooseArea(area) {
	if (!area || !countArea(heat.map, area))
		return;
	chooseCalls({area});
	say(`${areaLines(area).join(', ')}. They are listed under Slow calls.`);
}

function moveCursor(canvas, key) {
	const cursor = heat.cursor || {from: 0, to: 0, low: heat.high, high: heat.high};
	const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[key];
	const column = Math.min(Math.max(cursor.from + step[0], 0), data.grid.columns - 1);
	const level = Math.min(Math.max(cursor.low + step[1], heat.low), heat.high);

	heat.cursor = {from: column, to: column, low: level, high: level};
	drawHeat(canvas);
	say(areaLines(heat.cursor).join(', '));
}

function heatKey(canvas, event) {
	if (event.key.startsWith('Arrow'))
		moveCursor(canvas, event.key);
	else if (event.key === 'Enter' || event.key === ' ')
		chooseArea(heat.cursor);
	else if (event.key === 'Escape')
		chooseCalls({area: null});
	else
		return;
	event.preventDefault();
}

/* The rows that have a heat map, in a select. */
function heatSelect() {
	const select = el('select', {id: 'heat-select', 'aria-label': 'Heat map of'}, el('option', {value: '0'}, 'All calls'));
	const groups = new Map();

	data.heat.forEach((one, i) => {
		if (one.table < 0)
			return;
		if (!groups.has(one.table)) {
			groups.set(one.table, el('optgroup', {label: oneLine(TABLES[one.table].many)}));
			select.append(groups.get(one.table));
		}
		groups.get(one.table).append(el('option', {value: i}, nameOf(one.table, one.row).slice(0, 80)));
	});
	select.addEventListener('change', () => {
		const one = data.heat[Number(select.value)];

		chooseCalls({row: one.table < 0 ? null : {table: one.table, row: one.row}, area: null});
	});
	calls.changed.push(() => {
		select.value = String(Math.max(calls.row ? data.heat.findIndex((one) => one.table === calls.row.table && one.row === calls.row.row) : 0, 0));
	});
	return select;
}

function makeHeat() {
	const canvas = el('canvas', {id: 'heat-map', tabindex: '0', role: 'img',
		'aria-label': 'Durations over time. Arrow keys move through the cells, Enter lists the calls of a cell.'});

	canvas.addEventListener('mousemove', (event) => {
		const area = areaAt(canvas, placeOf(event, canvas));
		const isFull = area && countArea(heat.map, area) > 0;

		canvas.style.cursor = isFull ? 'pointer' : 'default';
		if (isFull)
			showTip(areaLines(area), event.clientX, event.clientY);
		else
			hideTip();
	});
	canvas.addEventListener('mouseleave', hideTip);
	canvas.addEventListener('click', (event) => chooseArea(areaAt(canvas, placeOf(event, canvas))));
	canvas.addEventListener('keydown', (event) => heatKey(canvas, event));
	for (const name of ['focus', 'blur'])
		canvas.addEventListener(name, () => drawHeat(canvas));
	section('latency', 'Durations over time',
		el('div', {class: 'bar'}, heatSelect(), el('span', {class: 'note'}, 'The stronger a cell, the more calls. A click on a cell, on a bar above or on one on the right lists its calls below.')),
		canvas);
	calls.changed.push(() => drawHeat(canvas));
	redrawn(() => drawHeat(canvas));
}
