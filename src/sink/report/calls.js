/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of single calls: the slowest of all, or those that were kept of a row or of a part of
 * the heat map.
 */

const PAGE = {first: 20, more: 100};

const calls = {
	sort: 'duration', down: true, words: '', shown: PAGE.first,
	row: null,	/* {table, row}: only calls of that row */
	area: null,	/* {from, to, low, high}: columns and levels of the heat map */
	open: new Set(),
	changed: [],	/* functions to call when the choice has changed */
};

const hasLines = kept.line.some((row) => row >= 0);
const hasThreads = data.threadCount > 1;

/* What the argument column shows: of a statement, its text. */
function shownArguments(i) {
	return kept.text[i] || kept.arguments[i] || '';
}

function shownResult(i) {
	if (kept.duration[i] >= 0)
		return kept.result[i] || '';
	return kept.slow[i] ? '(did not end)' : '(unwound)';
}

const CALL_COLUMNS = [
	{id: 'begun', title: 'Began', number: true, value: (i) => kept.begun[i],
	 text: (i) => `+${duration(kept.begun[i])}`, tip: (i) => clock(kept.begun[i], 9)},
	{id: 'duration', title: 'Duration', number: true, value: (i) => kept.duration[i], text: (i) => duration(kept.duration[i])},
	{id: 'function', title: 'Function', value: (i) => functionName(kept.function[i]), text: (i) => functionName(kept.function[i])},
	{id: 'arguments', title: 'Arguments', value: shownArguments, text: (i) => oneLine(shownArguments(i))},
	{id: 'result', title: 'Result', value: shownResult, text: (i) => oneLine(shownResult(i))},
	...(hasLines ? [{id: 'line', title: 'Line', value: (i) => lineText(i), text: (i) => lineText(i)}] : []),
	...(hasThreads ? [{id: 'tid', title: 'Thread', number: true, value: (i) => kept.tid[i], text: (i) => String(kept.tid[i])}] : []),
];

function lineText(i) {
	return kept.line[i] >= 0 ? nameOf(2, kept.line[i]) : '';
}

/* All that the filter box looks at. */
function searched(i) {
	return [functionName(kept.function[i]), kept.arguments[i], kept.text[i], shownResult(i), lineText(i), kept.caller[i], kept.tid[i]]
		.join('\n').toLowerCase();
}

function isInArea(i, area) {
	const column = columnOf(kept.begun[i]);

	if (column < area.from || column > area.to || kept.duration[i] < 0)
		return false;
	const level = levelOf(kept.duration[i]);

	return level >= area.low && level <= area.high;
}

/* The numbers of the calls to be listed, in order. */
function chosenCalls() {
	const words = calls.words.toLowerCase();
	const column = CALL_COLUMNS.find((one) => one.id === calls.sort);
	const chosen = [];

	for (let i = 0; i < kept.begun.length; i++) {
		if (calls.row ? kept[TABLES[calls.row.table].column][i] !== calls.row.row : !calls.area && !kept.slow[i])
			continue;
		if (calls.area && !isInArea(i, calls.area))
			continue;
		if (words && !searched(i).includes(words))
			continue;
		chosen.push(i);
	}
	const keys = new Map(chosen.map((i) => [i, column.value(i)]));
	const sign = calls.down ? -1 : 1;

	return chosen.sort((a, b) => {
		const one = keys.get(a), other = keys.get(b);

		return sign * (one < other ? -1 : one > other ? 1 : 0) || a - b;
	});
}

/* ---------------------------------------------------------------- one call */

function detail(title, text, isCode) {
	return text ? [el('dt', {}, title), el('dd', {}, isCode ? el('pre', {}, visible(text)) : oneLine(text))] : [];
}

function callDetails(i) {
	const stack = kept.stack[i] >= 0 ? kept.stacks[kept.stack[i]].map(visible).join('\n') : '';

	return el('dl', {class: 'details'},
		detail('Began', `${clock(kept.begun[i], 9)}, ${dateOf(kept.begun[i])}`),
		detail('Duration', kept.duration[i] >= 0 ? `${duration(kept.duration[i])} (${count(kept.duration[i])} ns)` : 'not known'),
		detail('Thread', `process ${kept.pid[i]}, thread ${kept.tid[i]}, depth ${kept.depth[i]}`),
		detail('Statement', kept.text[i], true),
		detail('Arguments', kept.arguments[i], true),
		detail('Result', shownResult(i), true),
		detail('Line', lineText(i)),
		detail('Called from', kept.caller[i]),
		detail('Stack', stack, true));
}

function toggleCall(i, row, button) {
	if (calls.open.delete(i)) {
		row.nextSibling.remove();
	} else {
		calls.open.add(i);
		row.after(detailsRow(i));
	}
	button.setAttribute('aria-expanded', String(calls.open.has(i)));
}

function detailsRow(i) {
	return el('tr', {class: 'open'}, el('td', {colspan: CALL_COLUMNS.length}, callDetails(i)));
}

function callCell(column, i) {
	const text = column.text(i);
	const kind = column.number ? 'number' : column.id === 'arguments' || column.id === 'result' ? 'code' : '';

	if (column.id !== 'function')
		return el('td', {class: `${kind} ${column.id}`, title: column.tip ? column.tip(i) : text}, text);
	/* It opens the row for the keyboard; a click anywhere in the row does so, too. */
	return el('td', {class: 'function', title: text}, el('button', {type: 'button', class: 'plain', 'aria-expanded': String(calls.open.has(i))}, text));
}

function callRow(i) {
	const row = el('tr', {class: 'call', 'data-call': i}, CALL_COLUMNS.map((column) => callCell(column, i)));
	const button = row.querySelector('button');

	row.addEventListener('click', () => {
		if (!String(window.getSelection()))
			toggleCall(i, row, button);
	});
	return calls.open.has(i) ? [row, detailsRow(i)] : [row];
}

/* ---------------------------------------------------------------- the list */

/* A heading that sorts; `state` has the members sort and down. */
function sortHeading(column, state, redraw) {
	const isSorted = state.sort === column.id;
	const sortBy = () => {
		state.down = isSorted ? !state.down : Boolean(column.number);
		state.sort = column.id;
		redraw(column.id);
	};

	return el('th', {scope: 'col', class: column.number ? 'number' : '', 'aria-sort': isSorted ? (state.down ? 'descending' : 'ascending') : null},
		el('button', {type: 'button', class: 'sort', 'data-sort': column.id, click: sortBy}, column.title,
			el('span', {class: 'arrow', 'aria-hidden': 'true'}, isSorted ? (state.down ? '\u25be' : '\u25b4') : '')));
}

function areaText(area) {
	const end = Math.min(columnBegin(area.to + 1), data.length);
	const times = `${clock(columnBegin(area.from))} to ${clock(end)}`;
	const levels = `${duration(levelBegin(area.low))} to ${duration(levelBegin(area.high + 1))}`;

	return area.isColumn ? times : area.isLevel ? levels : `${times}, ${levels}`;
}

function chip(text, remove) {
	return el('button', {type: 'button', class: 'chip', title: 'Show all again', click: remove}, text, el('span', {'aria-label': 'remove'}, '\u00d7'));
}

function chooseCalls(change) {
	Object.assign(calls, change, {shown: PAGE.first});
	for (const changed of calls.changed)
		changed();
}

/* How many calls there were of what is chosen, or null. */
function countChosen() {
	const heat = calls.row ? findHeat(calls.row.table, calls.row.row) : data.heat[0];

	if (calls.row && !calls.area)
		return data.tables[calls.row.table].calls[calls.row.row];
	if (!calls.area)
		return data.calls;
	return heat ? countArea(heat, calls.area) : null;
}

function describe(chosen) {
	const all = countChosen();
	const kind = calls.row || calls.area ? 'kept calls' : 'slowest calls';
	const words = calls.words ? ' that match' : '';

	return `${count(chosen)} ${chosen === 1 ? kind.slice(0, -1) : kind}${words}` + (all === null ? '' : ` of ${count(all)}`);
}

function drawCalls(parts, focus) {
	const chosen = chosenCalls();
	const chips = [];

	if (calls.row)
		chips.push(chip(`${TABLES[calls.row.table].one}: ${nameOf(calls.row.table, calls.row.row)}`, () => chooseCalls({row: null})));
	if (calls.area)
		chips.push(chip(areaText(calls.area), () => chooseCalls({area: null})));
	parts.chips.replaceChildren(...chips);
	parts.head.replaceChildren(el('tr', {}, CALL_COLUMNS.map((column) => sortHeading(column, calls, (id) => drawCalls(parts, id)))));
	parts.body.replaceChildren(...chosen.slice(0, calls.shown).flatMap(callRow));
	parts.count.textContent = describe(chosen.length);
	parts.more.hidden = chosen.length <= calls.shown;
	parts.more.textContent = `Show ${Math.min(PAGE.more, chosen.length - calls.shown)} more`;
	parts.empty.hidden = chosen.length > 0;
	if (focus)
		parts.head.querySelector(`[data-sort="${focus}"]`).focus();
}

function makeCalls() {
	const parts = {
		chips: el('span', {class: 'chips'}), head: el('thead'), body: el('tbody'),
		count: el('span', {class: 'count', 'aria-live': 'polite'}),
		more: el('button', {type: 'button', class: 'more'}),
		empty: el('p', {class: 'note'}, 'No call that was kept matches.'),
	};
	const filter = el('input', {type: 'search', id: 'calls-filter', placeholder: 'Filter: function, text, result, line \u2026',
		'aria-label': 'Filter calls', input: () => chooseCalls({words: filter.value})});

	parts.more.addEventListener('click', () => {
		calls.shown += PAGE.more;
		drawCalls(parts);
	});
	section('calls', 'Slow calls',
		el('div', {class: 'bar'}, filter, parts.chips, parts.count),
		el('div', {class: 'scroll'}, el('table', {class: 'calls'}, parts.head, parts.body)), parts.empty, parts.more);
	calls.changed.push(() => drawCalls(parts));
	drawCalls(parts);
}
