// Follows links and forms within a page by replacing its main element with the next page's. On an error the browser loads the address, as
// it does without scripts.

/** How long a fetched page may be shown again, in milliseconds; its free times may have changed after that. */
const maxAgeMs = 30_000

/** Fetched pages by address: main element, title and time of fetching. */
const cachedPages = new Map()

const main = () => document.querySelector('main')
const isSamePage = (url) => url.origin === location.origin && url.pathname === location.pathname

function cachePage(url, from) {
  cachedPages.set(url, { main: from.querySelector('main').outerHTML, title: from.title, at: Date.now() })
}

async function fetchPage(url) {
  const page = cachedPages.get(url)
  if (page && Date.now() - page.at < maxAgeMs) return page
  const answer = await fetch(url, { headers: { Accept: 'text/html' } })
  if (!answer.ok) throw new Error(`answered ${answer.status}`)
  cachePage(url, new DOMParser().parseFromString(await answer.text(), 'text/html'))
  return cachedPages.get(url)
}

/** Number of the latest navigation, so a slower answer to an earlier one is ignored. */
let latestNavigation = 0

async function show(url, historyAction) {
  const navigation = ++latestNavigation
  main().setAttribute('aria-busy', 'true')
  try {
    const page = await fetchPage(url)
    if (navigation !== latestNavigation) return
    if (historyAction === 'push') history.pushState(null, '', url)
    if (historyAction === 'replace') history.replaceState(null, '', url)
    const focused = document.activeElement?.id
    const next = new DOMParser().parseFromString(page.main, 'text/html').querySelector('main')
    main().replaceWith(document.adoptNode(next))
    document.title = page.title
    if (historyAction === 'replace') return
    const target = main().querySelector('[data-focus]') ?? (focused ? document.getElementById(focused) : null)
    target?.focus({ preventScroll: true })
    if (main().getBoundingClientRect().top < 0) main().scrollIntoView({ block: 'start' })
  } catch {
    // The visitor did not ask for a replaced page: a zone that only the browser knows leaves the shown one.
    if (historyAction === 'replace') main().removeAttribute('aria-busy')
    else location.href = url
  }
}

document.addEventListener('click', (event) => {
  const link = event.target.closest?.('main a[href]')
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const url = new URL(link.href)
  if (!isSamePage(url) || link.target) return
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

// Left and right arrow keys move between free days of the month, up and down between weeks.
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

// Caches the current page, unless it shows an error: that page is the answer to a submitted form.
if (!document.querySelector('[role=alert]')) {
  cachePage(location.href, document)
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  const url = new URL(location.href)
  if (!url.searchParams.has('tz') && timeZone && timeZone !== main().dataset.zone) {
    url.searchParams.set('tz', timeZone)
    void show(url.href, 'replace')
  }
}
