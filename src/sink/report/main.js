/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts the page together, of those sections that there is data for. */

/* ---------------------------------------------------------------- light and dark */

function isDark() {
	const chosen = document.documentElement.dataset.theme;

	return chosen ? chosen === 'dark' : window.matchMedia('(prefers-color-scheme: dark)').matches;
}

function makeTheme() {
	const button = byId('theme');
	const show = () => {
		button.textContent = isDark() ? 'Light' : 'Dark';
		button.title = `Switch to ${isDark() ? 'light' : 'dark'} colours`;
	};

	button.addEventListener('click', () => {
		document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
		show();
		redrawAll();
	});
	window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
		show();
		redrawAll();
	});
	window.matchMedia('print').addEventListener('change', redrawAll);
	show();
}

/* ---------------------------------------------------------------- summary */

function fact(title, value, remark, isBad) {
	return el('div', {class: isBad ? 'fact bad' : 'fact'}, el('dt', {}, title), el('dd', {}, value, remark ? el('small', {}, remark) : null));
}

function callRemark() {
	const remarks = [];

	if (data.sample)
		remarks.push(`one of ${count(data.sample)} was chosen (--sample)`);
	if (data.unfinished)
		remarks.push(`${count(data.unfinished)} did not end`);
	if (data.unwound)
		remarks.push(`${count(data.unwound)} unwound`);
	return remarks.join(', ');
}

function makeSummary() {
	const [functions, statements, lines] = data.tables.map((table) => {
		const hasOthers = table.others !== undefined;

		return hasOthers ? `${count(table.names.length - 1)}+` : table.names.length ? count(table.names.length) : null;
	});

	section('summary', 'Summary', el('dl', {class: 'facts'},
		fact('Began', clock(0, 0), dateOf(0)),
		fact('Length', duration(data.length), data.length ? `until ${clock(data.length, 3)}` : ''),
		fact('Calls', count(data.calls), callRemark()),
		fact('Time in calls', duration(data.time), 'sum of durations'),
		fact('Functions', functions || '0'),
		statements ? fact('Statements', statements, 'different shapes') : null,
		lines ? fact('Script lines', lines) : null,
		fact('Threads', count(data.threadCount), counted(data.processes, 'process', 'processes')),
		fact('Lost', count(data.lost), data.lost ? 'calls without records' : 'no call is missing', data.lost > 0),
		data.untraced.length ? fact('Not traced', count(data.untraced.length + data.untracedLeftOut), 'see below', true) : null));
}

/* ---------------------------------------------------------------- other events */

function plainTable(titles, rows) {
	return el('div', {class: 'scroll'}, el('table', {}, el('thead', {}, el('tr', {}, titles.map((title) => el('th', {scope: 'col'}, title)))),
		el('tbody', {}, rows.map((row) => el('tr', {}, row.map((cell) => el('td', {}, oneLine(cell))))))));
}

function leftOutNote(number) {
	return number ? el('p', {class: 'note'}, `${count(number)} more are left out.`) : null;
}

function makeEvents() {
	section('events', 'Signals and ends', plainTable(['Time', 'Since the beginning', 'Process', 'Event'],
		data.events.map((event) => [clock(event.time), `+${duration(event.time)}`, event.pid, event.what])), leftOutNote(data.eventsLeftOut));
}

function makeUntraced() {
	section('untraced', 'Not traced', plainTable(['What', 'Why'], data.untraced), leftOutNote(data.untracedLeftOut));
}

/* ---------------------------------------------------------------- the page */

function makeContents() {
	byId('contents').append(...sections.map(({id, title}) => el('a', {href: `#${id}`}, title)));
}

function main() {
	const traced = oneLine(data.traced || '');

	byId('traced').textContent = data.host ? `${traced} on ${oneLine(data.host)}` : traced;
	byId('traced').title = traced;
	document.title = `${traced.slice(0, 60)} \u2013 trace report`;
	makeSummary();
	if (data.heat[0].cells.length)
		makeHeat();
	if (kept.begun.length)
		makeCalls();
	if (data.tables[0].names.length)
		makeTables();
	if (data.flame.parent.length > 1)
		makeFlame();
	if (data.threads.some((thread) => thread.begun.length))
		makeLine();
	if (data.events.length)
		makeEvents();
	if (data.untraced.length)
		makeUntraced();
	if (!data.calls)
		byId('main').append(el('p', {class: 'note'}, 'No call was traced.'));
	makeContents();
	makeTheme();
	byId('footer').textContent = `Made by tracer ${oneLine(data.tracer)}. Times of day are those of this computer's zone.`;
	window.addEventListener('resize', redrawAll);
}

main();
