/* What a flame graph does in a browser: zoom, search, details. The picture is complete without it. */
'use strict';
(function () {
  const svg = document.documentElement;
  const frames = Array.from(document.querySelectorAll('svg.f')).map(function (element) {
    return {
      element: element,
      text: element.querySelector('text'),
      details: element.querySelector('title').textContent,
      name: element.getAttribute('data-n'),
      x: parseFloat(element.getAttribute('x')),
      width: parseFloat(element.getAttribute('width')),
      y: parseFloat(element.getAttribute('y')),
    };
  });
  const root = frames[0];
  const details = document.getElementById('details');
  const matched = document.getElementById('matched');
  const search = document.getElementById('search');
  const reset = document.getElementById('reset');
  const EPSILON = 1e-6;
  let zoomed = root;

  /* A frame narrower than two letters shows no text, else what fits, with dots. */
  function label(frame, percent) {
    if (!frame.text) return;
    const letters = Math.floor((svg.clientWidth * percent / 100 - 6) / 6.6);
    frame.text.textContent = letters < 3 ? '' : frame.name.length <= letters ? frame.name : frame.name.slice(0, letters - 1) + '\u2026';
  }

  function place(frame, x, width) {
    frame.element.setAttribute('x', x + '%');
    frame.element.setAttribute('width', width + '%');
    frame.element.style.display = '';
    label(frame, width);
  }

  function zoom(target) {
    zoomed = target;
    frames.forEach(function (frame) {
      const above = frame.y < target.y && frame.x <= target.x + EPSILON && frame.x + frame.width >= target.x + target.width - EPSILON;
      const below = frame.y >= target.y && frame.x >= target.x - EPSILON && frame.x + frame.width <= target.x + target.width + EPSILON;
      frame.element.classList.toggle('above', above);
      if (above) place(frame, 0, 100);
      else if (below) place(frame, (frame.x - target.x) / target.width * 100, frame.width / target.width * 100);
      else frame.element.style.display = 'none';
    });
    reset.style.display = target === root ? 'none' : '';
  }

  /* The widths of the outermost matches: a match inside another counts once. */
  function find(pattern) {
    let expression = null;
    try {
      expression = pattern ? new RegExp(pattern, 'i') : null;
      search.classList.remove('wrong');
    } catch (error) {
      search.classList.add('wrong');
    }
    let sum = 0, end = -1;
    const hits = frames.filter(function (frame) {
      const hit = expression !== null && frame !== root && expression.test(frame.name);
      frame.element.classList.toggle('hit', hit);
      return hit;
    });
    hits.sort(function (a, b) { return a.x - b.x || a.y - b.y; });
    hits.forEach(function (frame) {
      if (frame.x < end - EPSILON) return;
      sum += frame.width;
      end = frame.x + frame.width;
    });
    svg.classList.toggle('searching', expression !== null);
    matched.textContent = expression === null ? '' : 'matched: ' + sum.toFixed(1) + ' %';
  }

  frames.forEach(function (frame) {
    frame.element.addEventListener('click', function () { zoom(frame); });
    frame.element.addEventListener('mouseover', function () { details.textContent = frame.details.replace(/\n/g, '   '); });
    frame.element.addEventListener('mouseout', function () { details.textContent = ''; });
  });
  search.addEventListener('input', function () { find(search.value); });
  reset.addEventListener('click', function () { zoom(root); });
  document.addEventListener('keydown', function (event) {
    if (event.key === 'Escape') {
      search.value = '';
      find('');
      zoom(root);
    } else if (event.key === '/' && document.activeElement !== search) {
      event.preventDefault();
      search.focus();
    }
  });
  window.addEventListener('resize', function () { zoom(zoomed); });
  document.getElementById('tools').style.display = '';
  zoom(root);
  /* graph.svg?search=RE opens with a search. */
  const wanted = new URLSearchParams(window.location.search).get('search');
  if (wanted) {
    search.value = wanted;
    find(wanted);
  }
})();
