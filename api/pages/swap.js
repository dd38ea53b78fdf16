// Follows links and choices of a page without loading a whole page again: main is replaced by that of the next address. What fails here is
// left to the browser, which follows the link as it does without scripts.

/** How long free times may be shown again without asking, in milliseconds. */
const freshMs = 30_000

/** Pages that were fetched: their main, title and time, by address. */
const known = new Map()

const main = () => document.querySelector('main')
const isOwn = (url) => url.origin === location.origin && url.pathname === location.pathname

function keep(url, from) {
  known.set(url, { main: from.querySelector('main').outerHTML, title: from.title, at: Date.now() })
}

async function pageOf(url) {
  const page = known.get(url)
  if (page && Date.now() - page.at < freshMs) return page
  const answer = await fetch(url, { headers: { Accept: 'text/html' } })
  if (!answer.ok) throw new Error(`answered ${answer.status}`)
  keep(url, new DOMParser().parseFromString(await answer.text(), 'text/html'))
  return known.get(url)
}

/** The choice that was made last, so that a slower answer to an earlier one is not shown. */
let latest = 0

async function show(url, how) {
  const turn = ++latest
  main().setAttribute('aria-busy', 'true')
  try {
    const page = await pageOf(url)
    if (turn !== latest) return
    if (how === 'push') history.pushState(null, '', url)
    if (how === 'replace') history.replaceState(null, '', url)
    const focused = document.activeElement?.id
    const next = new DOMParser().parseFromString(page.main, 'text/html').querySelector('main')
    main().replaceWith(document.adoptNode(next))
    document.title = page.title
    if (how === 'replace') return
    const target = main().querySelector('[data-focus]') ?? (focused ? document.getElementById(focused) : null)
    target?.focus({ preventScroll: true })
    if (main().getBoundingClientRect().top < 0) main().scrollIntoView({ block: 'start' })
  } catch {
    location.href = url
  }
}

document.addEventListener('click', (event) => {
  const link = event.target.closest?.('main a[href]')
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const url = new URL(link.href)
  if (!isOwn(url) || link.target) return
  event.preventDefault()
  void show(url.href, 'push')
})

document.addEventListener('submit', (event) => {
  const form = event.target
  if (form.method !== 'get' || event.defaultPrevented) return
  event.preventDefault()
  void show(`${location.pathname}?${new URLSearchParams(new FormData(form))}`, 'push')
})

addEventListener('popstate', () => void show(location.href, 'pop'))

// Arrow keys go from one free day of the month to the next, and from one week to the other.
document.addEventListener('keydown', (event) => {
  const link = event.target.closest?.('.month td a')
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }
  const step = steps[event.key]
  if (!link || !step) return
  const isWeek = event.key === 'ArrowUp' || event.key === 'ArrowDown'
  const column = link.closest('td').cellIndex
  const all = [...document.querySelectorAll(isWeek ? `.month td:nth-child(${column + 1}) a` : '.month td a')]
  event.preventDefault()
  all[all.indexOf(link) + step]?.focus()
})

// A page that came as it is asked for can be shown again; one that says that something is wrong is the answer to a form.
if (!document.querySelector('[role=alert]')) {
  keep(location.href, document)
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  const url = new URL(location.href)
  if (!url.searchParams.has('tz') && timeZone && timeZone !== main().dataset.zone) {
    url.searchParams.set('tz', timeZone)
    void show(url.href, 'replace')
  }
}
