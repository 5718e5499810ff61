// Search by formula without a server: parse, fingerprint, load the shards that can hold it, compare.
// The same numbers as closedform.sweeping.atlas computes: probe_points.py.
"use strict";
const PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
const SPANS = [3, 30, 1e3, 1e6];
const N_POINTS = 2048, FEWEST = 64, N_COMPARED = 200, SAME = 1e-9, REACH = 0.15, SHOWN = 8;

// Functions of one argument: value and slope; logarithms and roots go on beyond their domains.
const FUNCTIONS = {
  exp: (a) => { const v = Math.exp(a); return [v, v]; },
  log: (a) => [Math.log(Math.abs(a)), 1 / a],
  sqrt: (a) => { const v = Math.sqrt(Math.abs(a)); return [v, 0.5 * Math.sign(a) / v]; },
  sin: (a) => [Math.sin(a), Math.cos(a)],
  cos: (a) => [Math.cos(a), -Math.sin(a)],
  tan: (a) => { const v = Math.tan(a); return [v, 1 + v * v]; },
  tanh: (a) => { const v = Math.tanh(a); return [v, 1 - v * v]; },
  sinh: (a) => [Math.sinh(a), Math.cosh(a)],
  cosh: (a) => [Math.cosh(a), Math.sinh(a)],
  atan: (a) => [Math.atan(a), 1 / (1 + a * a)],
  asin: (a) => [Math.asin(a), 1 / Math.sqrt(Math.abs(1 - a * a))],
  acos: (a) => [Math.acos(a), -1 / Math.sqrt(Math.abs(1 - a * a))],
  abs: (a) => [Math.abs(a), Math.sign(a)],
};
FUNCTIONS.ln = FUNCTIONS.log; FUNCTIONS.arctan = FUNCTIONS.atan; FUNCTIONS.arcsin = FUNCTIONS.asin; FUNCTIONS.arccos = FUNCTIONS.acos;
const INVERTIBLE = new Set(["exp", "log", "ln", "sqrt", "tanh", "sinh", "atan", "arctan", "asin", "arcsin", "acos", "arccos"]);

function parseFormula(text) {
  const tokens = text.replace(/\*\*/g, "^").match(/\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|[A-Za-z_]\w*|[-+*/^(),]/g) || [];
  if (tokens.join("") !== text.replace(/\*\*/g, "^").replace(/\s+/g, "")) throw new Error("There is a character that formulas do not have.");
  let at = 0;
  const names = [];
  const expect = (token) => { if (tokens[at++] !== token) throw new Error(`'${token}' is missing.`); };
  function sum() {
    let left = product();
    while (tokens[at] === "+" || tokens[at] === "-") { const op = tokens[at++]; left = { op, args: [left, product()] }; }
    return left;
  }
  function product() {
    let left = signed();
    while (tokens[at] === "*" || tokens[at] === "/") { const op = tokens[at++]; left = { op, args: [left, signed()] }; }
    return left;
  }
  function signed() {
    if (tokens[at] === "-") { at++; return { op: "*", args: [{ op: "number", value: -1 }, signed()] }; }
    if (tokens[at] === "+") { at++; return signed(); }
    const base = atom();
    if (tokens[at] === "^") { at++; return { op: "^", args: [base, signed()] }; }
    return base;
  }
  function atom() {
    const token = tokens[at++];
    if (token === undefined) throw new Error("The formula ends too early.");
    if (token === "(") { const inner = sum(); expect(")"); return inner; }
    if (/^[\d.]/.test(token)) return { op: "number", value: Number(token) };
    if (!/^[A-Za-z_]/.test(token)) throw new Error(`'${token}' is in the wrong place.`);
    if (tokens[at] === "(") {
      at++;
      const args = [sum()];
      while (tokens[at] === ",") { at++; args.push(sum()); }
      expect(")");
      if (!(token in FUNCTIONS && args.length === 1) && !((token === "min" || token === "max") && args.length === 2)) throw new Error(`The function ${token} is not known here; closedform atlas find knows more.`);
      return { op: token, args };
    }
    if (token === "pi") return { op: "number", value: Math.PI };
    if (!names.includes(token)) names.push(token);
    return { op: "input", name: token };
  }
  const tree = sum();
  if (at < tokens.length) throw new Error(`'${tokens[at]}' is in the wrong place.`);
  if (!names.length) throw new Error("The formula has no inputs.");
  if (names.length > PRIMES.length) throw new Error(`The atlas knows formulas of up to ${PRIMES.length} inputs.`);
  names.sort();
  return { tree: withoutOuter(tree), names };
}

function isConstant(tree) { return tree.op === "number" || (tree.op !== "input" && tree.args.every(isConstant)); }

// Without outer functions that can be inverted: they may saturate, and directions do not know them.
function withoutOuter(tree) {
  for (;;) {
    if (tree.op === "input" || tree.op === "number") return tree;
    const inner = tree.args.filter((each) => !isConstant(each));
    if (inner.length !== 1) return tree;
    if (tree.op === "^") {
      const power = tree.args[1];
      if (!isConstant(power) || evaluate(power, {}, 0).value % 2 === 0) return tree;
    } else if (!"+-*/".includes(tree.op) && !INVERTIBLE.has(tree.op)) return tree;
    tree = inner[0];
  }
}

// Value and gradient, by the chain rule forwards.
function evaluate(tree, places, count, point) {
  if (tree.op === "number") return { value: tree.value, slopes: new Float64Array(count) };
  if (tree.op === "input") {
    const slopes = new Float64Array(count);
    slopes[places[tree.name]] = 1;
    return { value: point[places[tree.name]], slopes };
  }
  const parts = tree.args.map((each) => evaluate(each, places, count, point));
  const [a, b] = parts;
  const mix = (value, s, t) => ({ value, slopes: a.slopes.map((each, i) => s * each + (b ? t * b.slopes[i] : 0)) });
  switch (tree.op) {
    case "+": return mix(a.value + b.value, 1, 1);
    case "-": return mix(a.value - b.value, 1, -1);
    case "*": return mix(a.value * b.value, b.value, a.value);
    case "/": return mix(a.value / b.value, 1 / b.value, -a.value / b.value / b.value);
    case "min": return a.value <= b.value ? a : b;
    case "max": return a.value >= b.value ? a : b;
    case "^": {
      if (isConstant(tree.args[1]) && Number.isInteger(b.value)) {
        return mix(Math.pow(a.value, b.value), b.value === 0 ? 0 : b.value * Math.pow(a.value, b.value - 1), 0);
      }
      const value = Math.exp(b.value * Math.log(Math.abs(a.value)));
      return mix(value, (value * b.value) / a.value, isConstant(tree.args[1]) ? 0 : value * Math.log(Math.abs(a.value)));
    }
    default: {
      const [value, slope] = FUNCTIONS[tree.op](a.value);
      return mix(value, slope, 0);
    }
  }
}

function probePoint(number, count, span) {
  const point = new Float64Array(count);
  for (let i = 0; i < count; i++) point[i] = Math.exp(Math.log(span) * (2 * ((number * Math.sqrt(PRIMES[i])) % 1) - 1));
  return point;
}

// The unit gradient by the logarithms of the inputs, or null.
function direction(formula, point, columns) {
  const places = {};
  formula.names.forEach((name, i) => { places[name] = columns ? columns[i] : i; });
  const { slopes } = evaluate(formula.tree, places, point.length, point);
  let length = 0;
  for (let i = 0; i < slopes.length; i++) { slopes[i] *= point[i]; length += slopes[i] * slopes[i]; }
  length = Math.sqrt(length);
  return Number.isFinite(length) && length > 1e-150 ? slopes.map((each) => each / length) : null;
}

// Statistics of the direction for each input, at one span; null where too few points are usable.
function profile(formula, span) {
  const count = formula.names.length;
  const sums = Array.from({ length: count }, () => new Float64Array(12));
  const numbers = Array.from({ length: count }, () => new Float64Array(5));
  let usable = 0;
  for (let n = 1; n <= N_POINTS; n++) {
    const point = probePoint(n, count, span), u = direction(formula, point);
    if (!u) continue;
    usable++;
    const logs = Array.from(point, (x) => Math.log(x) / Math.log(span));
    const total = u.reduce((s, x) => s + x, 0), all = logs.reduce((s, x) => s + x, 0);
    for (let i = 0; i < count; i++) {
      const range = logs[i] < -1 / 3 ? 0 : logs[i] <= 1 / 3 ? 1 : 2, side = all - logs[i] < 0 ? 3 : 4;
      numbers[i][range]++; numbers[i][side]++;
      [u[i] * u[i], u[i] * total].forEach((product, kind) => {
        sums[i][6 * kind + range] += product; sums[i][6 * kind + side] += product; sums[i][6 * kind + 5] += product * product;
      });
    }
  }
  if (usable < FEWEST) return null;
  return sums.map((row, i) => row.map((sum, at) => sum / (at % 6 === 5 ? usable : Math.max(numbers[i][at % 6], 1))));
}

function fingerprint(rows) {
  const vector = [];
  for (let at = 0; at < 12; at++) vector.push(...rows.map((row) => row[at]).sort((a, b) => a - b));
  return vector.map((each) => each / Math.sqrt(12 * rows.length));
}

// Mean squared sine between two formulas whose inputs are matched by `columns`.
function misalignment(first, second, columns, span) {
  const gaps = [];
  for (let n = 1; n <= N_COMPARED; n++) {
    const point = probePoint(n, columns.length, span);
    const u = direction(first, point, columns), v = direction(second, point);
    if (!u || !v) continue;
    const cosine = u.reduce((s, x, i) => s + x * v[i], 0);
    gaps.push(u.reduce((s, x, i) => s + (x - Math.sign(cosine) * v[i]) ** 2, 0) * (1 + Math.abs(cosine)) / 2);
  }
  if (gaps.length < 24) return null;
  gaps.sort((a, b) => a - b);
  const kept = gaps.slice(0, Math.max(Math.floor(0.95 * gaps.length), 1));
  return kept.reduce((s, x) => s + x, 0) / kept.length;
}

// The inputs of the first formula put into the columns of the second: greedily, then by exchanges.
function compare(first, rows, second, span) {
  const beside = profile(second, span);
  if (!beside) return null;
  const far = (i, j) => Math.hypot(...rows[i].map((x, at) => x - beside[j][at]));
  const pairs = [];
  rows.forEach((_, i) => beside.forEach((__, j) => pairs.push([far(i, j), i, j])));
  pairs.sort((a, b) => a[0] - b[0]);
  let columns = new Array(rows.length).fill(-1);
  const taken = new Set();
  for (const [, i, j] of pairs) if (columns[i] < 0 && !taken.has(j)) { columns[i] = j; taken.add(j); }
  let best = misalignment(first, second, columns, span);
  for (let improved = true; improved && best !== null && best > SAME;) {
    improved = false;
    for (let i = 0; i < columns.length; i++) for (let j = i + 1; j < columns.length; j++) {
      if (far(i, columns[j]) + far(j, columns[i]) > far(i, columns[i]) + far(j, columns[j]) + 0.3) continue;
      const changed = columns.slice();
      [changed[i], changed[j]] = [changed[j], changed[i]];
      const tried = misalignment(first, second, changed, span);
      if (tried !== null && tried < best) { columns = changed; best = tried; improved = true; }
    }
  }
  return best;
}

const loaded = {};
window.atlasShard = (name, rows) => { loaded[name] = rows; };

function load(name) {
  if (loaded[name]) return Promise.resolve(loaded[name]);
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `search/${name}.js`;
    script.onload = () => resolve(loaded[name] || []);
    script.onerror = () => reject(new Error(`search/${name}.js cannot be read.`));
    document.head.append(script);
  });
}

// Formulas near the asked one: the same concept first, then by angle.
async function find(text) {
  const asked = parseFormula(text), found = new Map();
  for (const span of SPANS) {
    const rows = profile(asked, span);
    if (!rows) continue;
    const vector = fingerprint(rows);
    const shards = window.ATLAS_SHARDS.filter((s) => s.inputs === rows.length && vector[0] >= s.low - REACH && vector[0] <= s.high + REACH);
    const near = [];
    for (const shard of shards) for (const row of await load(shard.name)) {
      near.push([Math.hypot(...row.vector.map((x, i) => x / 1e5 - vector[i])), row]);
    }
    near.sort((a, b) => a[0] - b[0]);
    for (const [, row] of near.slice(0, 2 * SHOWN)) {
      if (found.has(row.id)) continue;
      const gap = compare(asked, rows, parseFormula(row.formula), span);
      if (gap !== null) found.set(row.id, { ...row, isSame: gap < SAME, degrees: (Math.asin(Math.min(1, Math.sqrt(gap))) * 180) / Math.PI });
    }
    if (found.size) break;
  }
  return [...found.values()].sort((a, b) => a.degrees - b.degrees).slice(0, SHOWN);
}
window.atlasFind = find;

function element(name, text, more = {}) { const made = Object.assign(document.createElement(name), more); made.textContent = text; return made; }

function show(rows, answer) {
  answer.replaceChildren();
  const same = rows.filter((row) => row.isSame), others = rows.filter((row) => !row.isSame);
  for (const [title, part] of [[same.length ? "The same concept" : "No network here has this concept", same], ["Nearest, by angle", others]]) {
    if (!part.length && title.startsWith("Nearest")) continue;
    answer.append(element("h2", title));
    const list = element("ul", "", { className: "found" });
    for (const row of part) {
      const item = element("li", "", { className: "card" }), link = element("a", "", { href: `concepts/${row.id}.html` });
      link.append(element("code", row.formula.replace(/\d+\.\d{5,}/g, (digits) => String(Number(Number(digits).toPrecision(4))))));
      const far = row.isSame ? "" : `${row.degrees < 0.01 ? "below 0.01" : row.degrees.toPrecision(2)}° away, `;
      item.append(link, element("small", `${far}${row.verdict}, in ${row.networks} ${row.networks === 1 ? "network" : "networks"}`));
      list.append(item);
    }
    answer.append(list);
  }
}

const form = document.getElementById("search"), box = document.getElementById("formula"), answer = document.getElementById("answer");
async function ask() {
  if (!box.value.trim()) { answer.replaceChildren(); return; }
  try { show(await find(box.value), answer); } catch (error) { answer.replaceChildren(element("p", error.message, { className: "wrong" })); }
}
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const address = `#${encodeURIComponent(box.value)}`;
  if (location.hash === address) ask(); else location.hash = address;
});
function fromAddress() { if (location.hash.length > 1) { box.value = decodeURIComponent(location.hash.slice(1)); ask(); } }
window.addEventListener("hashchange", fromAddress);
fromAddress();
