/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables: functions, statements, script lines and the keys of --by, one at a time. */

const ROWS = {first: 25, more: 100};
const SPARK = {width: 120, height: 22};

const tables = {open: 0, sort: 'total', down: true, words: '', shown: ROWS.first};

function average(table, row) {
	return table.timed[row] ? table.total[row] / table.timed[row] : -1;
}

/* A time that is not known if no call has returned. */
function known(table, row, number) {
	return table.timed[row] ? number : -1;
}

const ROW_COLUMNS = [
	{id: 'name', title: '', value: (table, row) => table.names[row]},
	{id: 'spark', title: 'Over time', value: (table, row) => table.overTime[row].findIndex((n) => n > 0), number: true},
	{id: 'calls', title: 'Calls', number: true, value: (table, row) => table.calls[row], text: count},
	{id: 'total', title: 'Total', number: true, value: (table, row) => table.total[row], text: duration},
	{id: 'share', title: 'Share', number: true, value: (table, row) => table.total[row]},
	{id: 'average', title: 'Average', number: true, value: average, text: duration},
	{id: 'p50', title: 'p50', number: true, value: (table, row) => known(table, row, table.p50[row]), text: duration},
	{id: 'p99', title: 'p99', number: true, value: (table, row) => known(table, row, table.p99[row]), text: duration},
	{id: 'max', title: 'Max', number: true, value: (table, row) => known(table, row, table.max[row]), text: duration},
];

/* Bars of the calls over time, at most as many as there are pixels for. */
function spark(counts) {
	const columns = data.grid.columns;
	const most = Math.max(...counts, 1);
	const step = SPARK.width / columns;
	let path = '';

	counts.forEach((number, i) => {
		if (!number)
			return;
		const height = Math.max(SPARK.height * number / most, 1.5);

		path += `M${(i * step).toFixed(2)} ${SPARK.height}v-${height.toFixed(2)}h${Math.max(step, 1).toFixed(2)}v${height.toFixed(2)}z`;
	});
	return svg('svg', {class: 'spark', viewBox: `0 0 ${SPARK.width} ${SPARK.height}`, width: SPARK.width, height: SPARK.height,
		role: 'img', 'aria-label': `at most ${counted(most, 'call', 'calls')} in ${duration(data.grid.width)}`}, svg('path', {d: path}));
}

function shareCell(total, sum) {
	const bar = el('span', {class: 'share-bar', 'aria-hidden': 'true'});

	bar.style.width = `${sum ? 100 * total / sum : 0}%`;
	return el('td', {class: 'number share'}, el('span', {class: 'share-box'}, bar), percent(total, sum));
}

function rowCell(column, index, row, sum) {
	const table = data.tables[index];

	if (column.id === 'name')
		return el('th', {scope: 'row', class: 'name', title: visible(table.names[row])},
			el('button', {type: 'button', class: 'plain', title: `List its slowest calls: ${visible(table.names[row])}`,
				click: () => showCallsOf(index, row)}, nameOf(index, row)));
	if (column.id === 'spark')
		return el('td', {class: 'spark'}, spark(table.overTime[row]));
	if (column.id === 'share')
		return shareCell(table.total[row], sum);
	return el('td', {class: 'number'}, column.text(column.value(table, row)));
}

function showCallsOf(index, row) {
	chooseCalls({row: {table: index, row}, area: null});
	byId('calls').scrollIntoView();
	byId('calls-filter').focus({preventScroll: true});
}

function chosenRows(table) {
	const words = tables.words.toLowerCase();
	const column = ROW_COLUMNS.find((one) => one.id === tables.sort);
	const sign = tables.down ? -1 : 1;
	const rows = table.names.map((name, row) => row).filter((row) => table.names[row].toLowerCase().includes(words));
	const keys = rows.map(() => null);

	for (const row of rows)
		keys[row] = column.value(table, row);
	return rows.sort((a, b) => sign * (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : 0) || a - b);
}

function drawTable(parts, focus) {
	const table = data.tables[tables.open];
	const rows = chosenRows(table);
	const sum = table.total.reduce((all, one) => all + one, 0);
	const columns = ROW_COLUMNS.map((column) => column.id === 'name' ? {...column, title: TABLES[tables.open].one} : column);

	parts.head.replaceChildren(el('tr', {}, columns.map((column) => sortHeading(column, tables, (id) => drawTable(parts, id)))));
	parts.body.replaceChildren(...rows.slice(0, tables.shown).map((row) =>
		el('tr', {'data-row': row}, columns.map((column) => rowCell(column, tables.open, row, sum)))));
	parts.count.textContent = counted(rows.length, 'row', 'rows');
	parts.more.hidden = rows.length <= tables.shown;
	parts.more.textContent = `Show ${Math.min(ROWS.more, rows.length - tables.shown)} more`;
	parts.others.hidden = table.others === undefined;
	if (focus)
		parts.head.querySelector(`[data-sort="${focus}"]`).focus();
}

/* Buttons that choose one of several things; chosen() is told its index. */
function choiceButtons(label, titles, first, chosen) {
	const buttons = titles.map((title, i) => el('button', {type: 'button', 'aria-pressed': String(i === first), click: () => {
		buttons.forEach((button, k) => button.setAttribute('aria-pressed', String(k === i)));
		chosen(i);
	}}, title));

	return el('div', {class: 'choice', role: 'group', 'aria-label': label}, buttons);
}

function makeTables() {
	const present = data.tables.map((table, i) => i).filter((i) => data.tables[i].names.length);
	const parts = {
		head: el('thead'), body: el('tbody'), count: el('span', {class: 'count', 'aria-live': 'polite'}),
		more: el('button', {type: 'button', class: 'more'}),
		others: el('p', {class: 'note'}, 'There were more different names than rows: the others are counted together.'),
	};
	const filter = el('input', {type: 'search', id: 'table-filter', placeholder: 'Filter names \u2026', 'aria-label': 'Filter rows', input: () => {
		tables.words = filter.value;
		tables.shown = ROWS.first;
		drawTable(parts);
	}});
	const choice = present.length > 1 && choiceButtons('Table', present.map((i) => oneLine(TABLES[i].many)), 0, (i) => {
		tables.open = present[i];
		tables.shown = ROWS.first;
		drawTable(parts);
	});

	parts.more.addEventListener('click', () => {
		tables.shown += ROWS.more;
		drawTable(parts);
	});
	section('tables', present.length > 1 ? 'Tables' : TABLES[present[0]].many, el('div', {class: 'bar'}, choice, filter, parts.count),
		el('div', {class: 'scroll'}, el('table', {class: 'rows'}, parts.head, parts.body)), parts.others, parts.more);
	drawTable(parts);
}
