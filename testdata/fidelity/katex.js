// Draws formulas for katex.go, which fills in KaTeX's style sheet.
(() => {
	document.body.style.cssText = "display:flex;justify-content:center;align-items:center;height:100vh;margin:0";
	document.head.appendChild(document.createElement("style")).textContent = %s;
	const box = document.body.appendChild(document.createElement("div"));
	box.style.fontSize = "24px";
	const bare = (s) => s.replace(/[\s\u200a-\u200d\u2060\ufeff]+/g, "");
	window.drawn = (latex) => {
		try {
			katex.render(latex, box, { displayMode: true, throwOnError: true });
		} catch {
			return { ok: false };
		}
		const signs = [];
		for (const span of document.querySelectorAll("span")) {
			const text = bare(span.textContent);
			if (span.children.length > 0 || text === "") continue;
			const at = span.getBoundingClientRect();
			[...text].forEach((c, i) => signs.push({ text: c, x: at.x + (at.width * (i + 0.5)) / [...text].length, y: at.y + at.height / 2 }));
		}
		const parts = [...box.querySelector("semantics").children].filter((e) => e.tagName.toLowerCase() !== "annotation");
		return { ok: true, mathml: bare(parts.map((e) => e.outerHTML).join("")), signs };
	};
})();
