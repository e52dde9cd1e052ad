/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a flame graph of flame.c react: zoom by click or Enter, search, keys, a line about the frame
 * under the mouse. All it knows is in the elements. In a document of its own, the state is in the
 * address behind the #, so that it can be passed on: search=TEXT, regex=1, frame=NUMBER.
 *
 * Frames are in the order of a walk of the tree, parents first: what is below a frame is behind it,
 * up to its `end`.
 */
function flame(svg) {
	"use strict";
	const SVG = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
	const isAlone = svg === document.documentElement;
	const bar = svg.querySelector(".bar"), status = svg.querySelector(".status");
	const frames = [];
	let view, at = null, hits = [];

	/* ---------------------------------------------------------- the tree */

	function read() {
		const way = [];

		for (const element of svg.querySelectorAll(".frames > svg")) {
			const title = element.querySelector("title").textContent;
			const cut = title.lastIndexOf("\n"), depth = Number(element.dataset.d);
			const frame = {
				element, depth, index: frames.length, weight: Number(element.dataset.w),
				name: title.slice(0, cut), facts: title.slice(cut + 1),
				change: element.dataset.c ? element.dataset.c + " " : "",
				text: element.querySelector("text"), mark: element.querySelector(".mark"),
				left: parseFloat(element.getAttribute("x")),
				width: parseFloat(element.getAttribute("width")),
				parent: depth ? way[depth - 1] : null, children: [], end: 0
			};

			way.length = depth;
			way.push(frame);
			if (frame.parent)
				frame.parent.children.push(frame);
			frames.push(frame);
			for (const outer of way)
				outer.end = frames.length;
			element.frame = frame;
		}
	}

	function frameOf(node) {
		const element = node.closest ? node.closest(".frames > svg") : null;

		return element && svg.contains(element) ? element.frame : null;
	}

	function contains(outer, frame) {
		return outer.index <= frame.index && frame.index < outer.end;
	}

	function percent(part) {
		const all = frames[0].weight;

		return (all > 0 ? part / all * 100 : 0).toFixed(2) + " %";
	}

	/* ---------------------------------------------------------- drawing */

	const sample = document.createElementNS(SVG, "text");

	function letterWidth() {
		sample.textContent = "m".repeat(50);
		svg.querySelector(".frames").append(sample);
		const width = sample.getComputedTextLength() / 50;

		sample.remove();
		return width || 7.3;
	}

	/* Letters of Chinese, Japanese and Korean, and pictures, take two columns. */
	function cut(name, columns) {
		let used = 0, shown = "";

		for (const letter of name) {
			used += letter.codePointAt(0) >= 0x1100 ? 2 : 1;
			if (used > columns)
				return shown.length > 2 ? shown.slice(0, -1) + "\u2026" : "";
			shown += letter;
		}
		return shown;
	}

	/* Of what is in view, in percent; nothing has a width if nothing was counted. */
	function part(width) {
		return view.width > 0 ? width / view.width * 100 : 0;
	}

	function draw() {
		const pixels = svg.getBoundingClientRect().width * 0.98, letter = letterWidth();

		for (const frame of frames) {
			const isOuter = frame !== view && contains(frame, view);
			const isShown = isOuter || contains(view, frame);

			frame.element.style.display = isShown ? "" : "none";
			if (!isShown)
				continue;
			const left = isOuter ? 0 : part(frame.left - view.left);
			const width = isOuter ? 100 : part(frame.width);

			frame.element.setAttribute("x", left.toFixed(6) + "%");
			frame.element.setAttribute("width", width.toFixed(6) + "%");
			frame.element.classList.toggle("outer", isOuter);
			frame.text.textContent = cut(frame.change + frame.name, (pixels * width / 100 - 9) / letter);
			if (frame.mark)
				frame.mark.setAttribute("width", pixels * width / 100 > 12 ? "3" : "0");
		}
	}

	function tell(frame) {
		status.textContent = frame ? `${frame.name}  ${frame.facts}` : "";
	}

	/* Keeps the lines above the frames in sight. */
	function follow() {
		const top = Math.max(0, -svg.getBoundingClientRect().top);

		bar.setAttribute("transform", `translate(0, ${top})`);
	}

	/* ---------------------------------------------------------- zoom, and the frame of the keys */

	function zoom(frame) {
		view = frame.width > 0 ? frame : frames[0];
		draw();
		remember();
	}

	function go(frame) {
		if (!frame)
			return;
		if (at)
			at.element.classList.remove("at");
		at = frame;
		at.element.classList.add("at");
		at.element.setAttribute("tabindex", "-1");
		at.element.setAttribute("aria-label", `${at.name}, ${at.facts}`);
		at.element.focus({preventScroll: true});
		tell(at);
		const place = at.element.getBoundingClientRect(), room = bar.getBoundingClientRect().height;

		if (place.top < room)
			window.scrollBy(0, place.top - room);
		else if (place.bottom > window.innerHeight)
			window.scrollBy(0, place.bottom - window.innerHeight);
	}

	function widest(children) {
		return children.reduce((one, other) => one && one.weight >= other.weight ? one : other, null);
	}

	function beside(frame, step) {
		const siblings = frame.parent ? frame.parent.children : [frame];
		const next = siblings[siblings.indexOf(frame) + step];

		return next && (contains(view, next) || contains(next, view)) ? next : null;
	}

	/* ---------------------------------------------------------- search */

	function html(name, attributes, ...children) {
		const element = document.createElementNS(HTML, name);

		for (const [key, value] of Object.entries(attributes))
			element.setAttribute(key, value);
		element.append(...children);
		return element;
	}

	const box = html("input", {type: "search", placeholder: "search ( / )", "aria-label": "Search for frames",
		spellcheck: "false", autocomplete: "off"});
	const isRegex = html("input", {type: "checkbox"});
	const all = html("button", {type: "button"}, "Show all");
	const found = html("output", {"class": "found", "aria-live": "polite"});

	/* Returns a function that tells whether a name matches; null: the expression is wrong. */
	function matcher(text) {
		if (!isRegex.checked)
			return name => name.toLowerCase().includes(text.toLowerCase());
		try {
			const expression = new RegExp(text, "i");

			return name => expression.test(name);
		} catch (error) {
			return null;
		}
	}

	function search() {
		const text = box.value, matches = text ? matcher(text) : () => false;
		let weight = 0, end = 0;

		hits = matches ? frames.filter(frame => frame.parent && matches(frame.name)) : [];
		/* What is in a frame that matches is in its weight. */
		for (const frame of hits) {
			if (frame.index >= end) {
				weight += frame.weight;
				end = frame.end;
			}
		}
		const isHit = new Set(hits);

		for (const frame of frames) {
			frame.element.classList.toggle("hit", isHit.has(frame));
			frame.element.classList.toggle("miss", hits.length > 0 && !isHit.has(frame));
		}
		found.textContent = !text ? "" : !matches ? "not a regular expression"
			: `${percent(weight)} in ${hits.length} frame${hits.length === 1 ? "" : "s"}`;
		remember();
	}

	/* Goes to a match that is in view, from the present one on. */
	function goToHit(step) {
		const seen = hits.filter(frame => contains(view, frame) || contains(frame, view));
		const place = at ? at.index : -1;
		const next = step > 0 ? seen.find(frame => frame.index > place) || seen[0]
			: seen.filter(frame => frame.index < place).pop() || seen[seen.length - 1];

		go(next);
	}

	/* ---------------------------------------------------------- the address */

	function remember() {
		const state = new URLSearchParams();

		if (!isAlone)
			return;
		if (box.value)
			state.set("search", box.value);
		if (box.value && isRegex.checked)
			state.set("regex", "1");
		if (view.index)
			state.set("frame", view.index);
		try {
			window.history.replaceState(null, "", "#" + state);
		} catch (error) {
			/* Some browsers do not allow it for files. */
		}
	}

	function recall() {
		const state = new URLSearchParams(isAlone ? window.location.hash.slice(1) : "");

		view = frames[Number(state.get("frame"))] || frames[0];
		box.value = state.get("search") || "";
		isRegex.checked = state.get("regex") === "1";
		draw();
		search();
	}

	/* ---------------------------------------------------------- events */

	const ways = {
		ArrowUp: () => go(at ? at.parent : view),
		ArrowDown: () => go(at ? widest(at.children) : view),
		ArrowLeft: () => go(at ? beside(at, -1) : view),
		ArrowRight: () => go(at ? beside(at, 1) : view),
		Home: () => go(frames[0]),
		Enter: () => zoom(at || view),
		" ": () => zoom(at || view),
		Escape: () => zoom(frames[0]),
		"/": () => box.focus(),
		n: () => goToHit(1),
		N: () => goToHit(-1)
	};

	function onKey(event) {
		if (event.ctrlKey || event.altKey || event.metaKey)
			return;
		if (event.target === box) {
			if (event.key === "Enter")
				goToHit(1);
			else if (event.key === "Escape")
				go(at || view);
			return;
		}
		if (event.target.localName === "input" || event.target.localName === "button" || !ways[event.key])
			return;
		event.preventDefault();
		ways[event.key]();
	}

	function addControls() {
		const place = document.createElementNS(SVG, "foreignObject");
		const rows = {x: "1%", y: "34", width: "98%", height: "28"};

		for (const [key, value] of Object.entries(rows))
			place.setAttribute(key, value);
		place.append(html("div", {"class": "controls"}, box, html("label", {}, isRegex, " regular expression"), all, found,
			html("span", {"class": "keys"}, "arrows: move \u00b7 Enter: zoom \u00b7 Escape: all \u00b7 n, N: next match")));
		bar.append(place);
	}

	read();
	addControls();
	recall();
	svg.addEventListener("click", event => {
		const frame = frameOf(event.target);

		if (frame) {
			zoom(frame);
			go(frame);
		}
	});
	svg.addEventListener("mouseover", event => tell(frameOf(event.target) || at));
	svg.addEventListener("keydown", onKey);
	box.addEventListener("input", search);
	isRegex.addEventListener("change", search);
	all.addEventListener("click", () => zoom(frames[0]));
	window.addEventListener("resize", draw);
	window.addEventListener("scroll", follow);
	window.addEventListener("hashchange", recall);
}
