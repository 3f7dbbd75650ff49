"use strict";
(() => {
  const packed = JSON.parse(document.getElementById("rows").textContent);
  const PAGE = 100;
  const inTokens = packed.unit === "tokens";
  const number = new Intl.NumberFormat("en");

  const summed = (steps) => {
    let sum = 0;
    return steps.map((step) => (step === null ? null : (sum += step)));
  };
  const repeated = (runs) => runs.flatMap(([count, value]) => Array(count).fill(value));

  const times = summed(packed.times);
  const used = summed(packed.used);
  const limits = repeated(packed.limits);
  const grades = repeated(packed.grades);
  const models = repeated(packed.models);
  const marks = new Map(packed.marks.map(([index, ...names]) => [index, names]));
  const all = times.map((_, index) => index);
  const chosen = {
    all,
    marked: all.filter((index) => marks.has(index)),
    missing: all.filter((index) => grades[index].startsWith("missing")),
  };

  const time = (index) =>
    times[index] === null
      ? ""
      : new Date(times[index] * 1000).toISOString().slice(0, 19).replace("T", " ");
  const amount = (value) =>
    value === null ? "" : inTokens ? number.format(value) : `${value / 100}%`;
  const limit = (index) => (limits[index] === null || !inTokens ? "" : number.format(limits[index]));
  const share = (index) => {
    if (used[index] === null || limits[index] === null) return "";
    return inTokens
      ? `${Math.floor((200 * used[index] + limits[index]) / (2 * limits[index]))}%`
      : amount(used[index]);
  };
  const happened = (index) =>
    (marks.get(index) || []).map((name) => name.replace("_", " ")).join(", ");

  const element = (id) => document.getElementById(id);
  const body = element("table").tBodies[0];
  const buttons = { first: element("first"), before: element("before"), after: element("after"), last: element("last") };
  let which = "all";
  let page = 0;

  const pages = () => Math.max(1, Math.ceil(chosen[which].length / PAGE));

  const row = (index) => {
    const line = document.createElement("tr");
    line.id = `moment-${packed.first + index}`;
    line.className = grades[index].startsWith("missing") ? "missing" : "";
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = number.format(packed.first + index);
    const cells = [
      time(index), inTokens ? amount(used[index]) : "", limit(index), share(index),
      grades[index], models[index] ?? "", happened(index),
    ].map((text) => {
      const cell = document.createElement("td");
      cell.textContent = text;
      return cell;
    });
    line.append(head, ...cells);
    return line;
  };

  const show = () => {
    const shown = chosen[which].slice(page * PAGE, (page + 1) * PAGE);
    body.replaceChildren(...shown.map(row));
    element("place").textContent = shown.length
      ? `Page ${page + 1} of ${pages()}, ${number.format(chosen[which].length)} in all.`
      : "There are none.";
    buttons.first.disabled = buttons.before.disabled = page === 0;
    buttons.after.disabled = buttons.last.disabled = page >= pages() - 1;
  };
  const turn = (to) => {
    page = Math.min(Math.max(to, 0), pages() - 1);
    show();
  };
  buttons.first.addEventListener("click", () => turn(0));
  buttons.before.addEventListener("click", () => turn(page - 1));
  buttons.after.addEventListener("click", () => turn(page + 1));
  buttons.last.addEventListener("click", () => turn(pages() - 1));
  element("which").addEventListener("change", (event) => {
    which = event.target.value;
    turn(0);
  });

  const range = element("at");
  const pointer = element("pointer");
  const chart = element("chart");
  const left = Number(chart.dataset.left);
  const right = Number(chart.dataset.right);
  const count = Number(range.max);

  const told = (moment) => {
    const index = moment - packed.first;
    if (index < 0) return `Moment ${number.format(moment)} is not listed.`;
    const known = inTokens && limit(index) ? ` of ${limit(index)}` : "";
    return [
      `Moment ${number.format(moment)}`, time(index) && `${time(index)} UTC`,
      amount(used[index]) && `${amount(used[index])}${known}${inTokens && share(index) ? ` (${share(index)})` : ""}`,
      grades[index], models[index], happened(index),
    ].filter(Boolean).join(", ");
  };
  const read = () => {
    const moment = Number(range.value);
    element("reading").textContent = told(moment);
    range.setAttribute("aria-valuetext", told(moment));
  };
  const point = () => {
    const moment = Number(range.value);
    const x = left + ((moment - 0.5) * (right - left)) / count;
    pointer.setAttribute("x1", x);
    pointer.setAttribute("x2", x);
    pointer.classList.add("shown");
    read();
  };
  range.addEventListener("input", point);
  chart.addEventListener("pointermove", (event) => {
    const box = chart.getBoundingClientRect();
    const x = ((event.clientX - box.left) * chart.viewBox.baseVal.width) / box.width;
    const share = (x - left) / (right - left);
    if (share < 0 || share >= 1) return;
    range.value = 1 + Math.floor(share * count);
    point();
  });
  element("show").addEventListener("click", () => {
    const moment = Number(range.value);
    which = element("which").value = "all";
    turn(Math.floor((moment - packed.first) / PAGE));
    for (const line of body.querySelectorAll(".chosen")) line.classList.remove("chosen");
    const line = element(`moment-${moment}`);
    if (line === null) return;
    line.classList.add("chosen");
    line.tabIndex = -1;
    line.focus();
    line.scrollIntoView({ block: "center" });
  });

  turn(pages() - 1);
  read();
  document.documentElement.dataset.ready = "yes";
})();
