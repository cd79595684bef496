/* A solution evaluated in the browser: u(t, x) = a₀(t) + Σ aₘ(t) cos 2πmx/L + bₘ(t) sin 2πmx/L, each coefficient cubic in t. */
(() => {
  const figure = document.querySelector("[data-live]"), data = window.hcpinnSolution;
  const { modes, times, start, end, length, scale, most, colours } = data, width = 2 * modes + 1;
  const kept = new Int16Array(Uint8Array.from(atob(data.values), (c) => c.charCodeAt(0)).buffer);

  const coefficients = (t) => {
    const place = (Math.min(Math.max(t, start), end) - start) / (end - start) * (times - 1);
    const i = Math.min(Math.floor(place), times - 2), s = place - i;
    const rows = [i - 1, i, i + 1, i + 2].map((k) => Math.min(Math.max(k, 0), times - 1) * width);
    const weights = [((2 - s) * s - 1) * s / 2, ((3 * s - 5) * s * s + 2) / 2, ((4 - 3 * s) * s + 1) * s / 2, (s - 1) * s * s / 2];
    return Float64Array.from({ length: width }, (_, k) => scale * rows.reduce((sum, row, n) => sum + weights[n] * kept[row + k], 0));
  };
  const value = (c, x) => {
    const step = 2 * Math.PI * x / length;
    let sum = c[0];
    for (let m = 1; m <= modes; m++) sum += c[2 * m - 1] * Math.cos(m * step) + c[2 * m] * Math.sin(m * step);
    return sum;
  };
  window.hcpinnValue = (t, x) => value(coefficients(t), x);

  const canvas = figure.querySelector("canvas"), pen = canvas.getContext("2d");
  const slider = figure.querySelector("input"), button = figure.querySelector("button"), said = figure.querySelector("output");
  const across = 240, deep = 180, history = [];
  for (let j = 0; j < deep; j++) {
    const c = coefficients(start + (end - start) * j / (deep - 1));
    history.push(Float64Array.from({ length: across }, (_, i) => value(c, length * i / (across - 1))));
  }
  let map, scheme;

  const paint = () => {  // the map of all times, in the colours of the page
    scheme = document.body.dataset.mdColorScheme;
    const stops = colours[scheme === "slate" ? "dark" : "light"];
    map = document.createElement("canvas");
    [map.width, map.height] = [across, deep];
    const image = map.getContext("2d").createImageData(across, deep);
    history.forEach((row, j) => row.forEach((u, i) => {
      const place = Math.min(Math.max((u / most + 1) / 2, 0), 1) * (stops.length - 1), k = Math.min(Math.floor(place), stops.length - 2);
      for (let n = 0; n < 3; n++) image.data[4 * ((deep - 1 - j) * across + i) + n] = stops[k][n] + (place - k) * (stops[k + 1][n] - stops[k][n]);
      image.data[4 * ((deep - 1 - j) * across + i) + 3] = 255;
    }));
    map.getContext("2d").putImageData(image, 0, 0);
  };

  const draw = () => {
    if (scheme !== document.body.dataset.mdColorScheme) paint();
    const t = Number(slider.value), c = coefficients(t), style = getComputedStyle(canvas), dots = devicePixelRatio;
    const [w, h] = [canvas.clientWidth, canvas.clientHeight];
    [canvas.width, canvas.height] = [w * dots, h * dots];
    pen.setTransform(dots, 0, 0, dots, 0, 0);
    pen.font = `12px ${style.fontFamily}`;
    const [left, right, middle, bottom] = [34, w - 8, h * 0.46, h - 34], up = (u) => 8 + (middle - 16) * (1 - u / most) / 2;
    const share = (t - start) / (end - start), top = middle + 12, line = bottom - (bottom - top) * share;
    pen.fillStyle = pen.strokeStyle = style.color;
    pen.textAlign = "right"; pen.textBaseline = "middle";
    for (const u of [-2, 0, 2]) pen.fillText(u, left - 6, up(u));
    for (const s of [0, 20, 40, 60]) pen.fillText(s, left - 6, bottom - (bottom - top) * (s - start) / (end - start));
    pen.textAlign = "center"; pen.textBaseline = "top";
    for (const x of [0, 10, 20, 30, 40]) pen.fillText(x, left + (right - left) * x / length, bottom + 4);
    pen.fillText("x", (left + right) / 2 + 18, bottom + 18); pen.fillText("u", 8, up(0) - 20); pen.fillText("t", 8, (top + bottom) / 2 - 6);
    pen.globalAlpha = 0.3; pen.beginPath(); pen.moveTo(left, up(0)); pen.lineTo(right, up(0)); pen.stroke(); pen.globalAlpha = 1;
    pen.imageSmoothingEnabled = true;
    pen.drawImage(map, 0, (1 - share) * (deep - 1), across, share * (deep - 1) + 1, left, line, right - left, bottom - line);
    pen.lineWidth = 1; pen.beginPath(); pen.moveTo(left, line); pen.lineTo(right, line); pen.stroke();
    pen.lineWidth = 2; pen.strokeStyle = style.getPropertyValue("--curve"); pen.beginPath();
    for (let x = left; x <= right; x++) pen.lineTo(x, up(value(c, length * (x - left) / (right - left))));
    pen.stroke();
    said.textContent = `t = ${t.toFixed(1)}`;
  };

  let before = null;
  const tick = (now) => {
    if (button.dataset.playing !== "yes") { before = null; return; }
    if (before !== null) slider.value = (Number(slider.value) + (now - before) / 1000 * (end - start) / 15) % end;
    before = now;
    draw();
    requestAnimationFrame(tick);
  };
  const play = (yes) => {
    button.dataset.playing = yes ? "yes" : "no";
    button.textContent = yes ? "Pause" : "Play";
    if (yes) requestAnimationFrame(tick);
  };
  button.addEventListener("click", () => play(button.dataset.playing !== "yes"));
  slider.addEventListener("input", () => { play(false); draw(); });
  canvas.addEventListener("pointerdown", (event) => {
    const [top, bottom] = [canvas.clientHeight * 0.46 + 12, canvas.clientHeight - 34];
    if (event.offsetY > top) { slider.value = start + (end - start) * (bottom - event.offsetY) / (bottom - top); play(false); draw(); }
  });
  new ResizeObserver(draw).observe(canvas);
  new MutationObserver(draw).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
  slider.value = end / 3;
  draw();
  play(!matchMedia("(prefers-reduced-motion: reduce)").matches);
})();
