// Keeps the figures of a page of the operator console new, by the stream of the overview: `data-figure` names a part of it, and tables in
// `data-live` are fetched again when it has changed. Nothing is announced: who listens hears figures when it reads them.

/** Milliseconds between two fetches of the page. */
const fetchEveryMs = 3_000

const address = document.querySelector('[data-stream]').dataset.stream
const hint = document.querySelector('[data-hint]')
const hintWithoutStream = hint?.textContent

const formats = {
  megabytes: (bytes) => String(Math.round(bytes / 100_000) / 10),
  time: (instant) => `${instant.slice(0, 10)} ${instant.slice(11, 19)} UTC`,
  list: (numbers) => numbers.join(' '),
}

function showFigures(overview) {
  for (const element of document.querySelectorAll('[data-figure]')) {
    const { figure, format, none } = element.dataset
    const value = figure.split('.').reduce((part, key) => part?.[key], overview)
    const text = value === null ? none : (formats[format] ?? String)(value)
    if (element.textContent !== text) element.textContent = text
  }
}

/** Puts what a table shows now into its place, which keeps the scroll position. A link that has the focus keeps it. */
function replaceRows(shown, fetched) {
  const focused = shown.contains(document.activeElement) ? document.activeElement : null
  // Somebody is at a field of a form.
  if (focused?.matches('input, select, textarea')) return
  const [from, to] = [fetched.querySelector('tbody'), shown.querySelector('tbody')]
  const [next, place] = from && to ? [from, to] : [fetched, shown]
  if (next.innerHTML === place.innerHTML) return
  const href = focused?.getAttribute('href')
  place.replaceChildren(...document.adoptNode(next).childNodes)
  if (href) [...shown.querySelectorAll('a')].find((link) => link.getAttribute('href') === href)?.focus({ preventScroll: true })
}

let fetchedAt = 0
let isFetching = false

async function fetchTables() {
  isFetching = true
  fetchedAt = Date.now()
  try {
    const answer = await fetch(location.href, { headers: { Accept: 'text/html' } })
    if (!answer.ok) return
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
    const fetched = page.querySelectorAll('[data-live]')
    for (const [index, shown] of document.querySelectorAll('[data-live]').entries()) {
      if (fetched[index]) replaceRows(shown, fetched[index])
    }
  } catch {
    // The next event tries again.
  } finally {
    isFetching = false
  }
}

let lastEvent = ''
let isChanged = false
let source

function receive({ data }) {
  isChanged ||= data !== lastEvent
  lastEvent = data
  showFigures(JSON.parse(data))
  if (hint) hint.textContent = hint.dataset.hint
  if (!isChanged || isFetching || Date.now() - fetchedAt < fetchEveryMs || !document.querySelector('[data-live]')) return
  isChanged = false
  void fetchTables()
}

function listen() {
  source = new EventSource(address)
  source.addEventListener('overview', receive)
  source.addEventListener('error', () => {
    if (hint && source.readyState === EventSource.CLOSED) hint.textContent = hintWithoutStream
  })
}

// Nobody looks at a hidden page.
document.addEventListener('visibilitychange', () => {
  if (document.hidden) source?.close()
  else if (source === undefined || source.readyState === EventSource.CLOSED) listen()
})
if (!document.hidden) listen()
