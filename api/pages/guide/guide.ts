import type Router from '@koa/router'
import type { Context } from 'koa'
import { prefersPage } from '#api/http/not-found.ts'
import { readQuery, requireCleanAddress } from '#api/http/request/query.ts'
import type { ApiServices } from '#api/http/services.ts'
import { fileVersion } from '#api/pages/assets/files.ts'
import { type CachedPage, cachedPage, sendCached } from '#api/pages/cached-page.ts'
import { type GuidePage, readGuide, type Section } from '#api/pages/guide/guide-pages.ts'
import { type Hit, indexGuide, maxHits, type SearchIndex, searchGuide } from '#api/pages/guide/search.ts'
import { basePathOf, defaultColor, pageHeaders } from '#api/pages/page.ts'
import { type Html, template } from '#api/pages/template.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** What the templates share: the path of the public URL, and all pages for the navigation. */
interface Guide {
  readonly root: string
  readonly pages: readonly GuidePage[]
}

interface Frame extends Guide {
  readonly files: string
  readonly color: string
  readonly title: string
  /** Name of the shown page; `''` for the start, undefined for the search. */
  readonly current?: string
  readonly query: string
  readonly body: Html
  /** Headings of the shown page below its title. */
  readonly headings: readonly Section[]
  readonly previous?: GuidePage | undefined
  readonly next?: GuidePage | undefined
}

const renderFrame = template<Frame>(new URL('guide.eta', import.meta.url))
const renderStart = template<Guide>(new URL('start.eta', import.meta.url))
const renderHits = template<{ readonly root: string; readonly query: string; readonly hits: readonly Hit[]; readonly maxHits: number }>(
  new URL('hits.eta', import.meta.url),
)

/** Maximum characters of a search. */
const maxQueryLength = 200

const searchQuery = schema(t.Object({ q: t.Optional(t.String()) }))

/** Serves docs/contract as a guide: `/docs` with the list of pages, `/docs/<page>`, and `/docs/search?q=` over all of them. */
export function serveGuide(routerFor: (path: string) => Router, { config, rateLimits }: Pick<ApiServices, 'config' | 'rateLimits'>): void {
  const root = basePathOf(config.publicUrl)
  // Read on the first request: at start it would cost 60 ms. A failed reading is tried again.
  let reading: Promise<LoadedGuide> | undefined
  const load = () => {
    reading ??= loadGuide(root).catch((error) => {
      reading = undefined
      throw error
    })
    return reading
  }
  const showPage = async (ctx: Context, name: string) => {
    const page = (await load()).shown.get(name)
    if (!page) throw failure(ctx, problem('NOT_FOUND'))
    sendCached(ctx, page)
  }
  const router = routerFor('/docs')
  router.get('/docs', (ctx) => showPage(ctx, ''))
  router.get('/docs/search', async (ctx) => {
    await rateLimits.countClient(ctx, 'content')
    const query = readSearch(ctx)
    const guide = await load()
    const body = renderHits({ root, query, hits: searchGuide(guide.index, query), maxHits })
    sendCached(ctx, framed(guide, { title: 'Search', query, body, headings: [] }))
  })
  router.get('/docs/:page', (ctx) => showPage(ctx, ctx.params.page ?? ''))
}

/** The text of a search. */
function readSearch(ctx: Context): string {
  try {
    requireCleanAddress(ctx)
    const text = readQuery(ctx.query, searchQuery).q?.trim() ?? ''
    const characters = [...text].length
    if (characters > maxQueryLength)
      throw problem('VALIDATION_ERROR', `q must have at most ${maxQueryLength} characters, got ${characters}`)
    return text
  } catch (error) {
    throw error instanceof Problem ? failure(ctx, error) : error
  }
}

interface LoadedGuide extends Guide {
  readonly index: SearchIndex
  /** Answers by the names of the pages; the start has none. */
  readonly shown: ReadonlyMap<string, CachedPage>
}

async function loadGuide(root: string): Promise<LoadedGuide> {
  const pages = await readGuide(`${root}/docs`)
  const guide = { root, pages }
  const shown = pages.map((page, position) => [page.name, contractPage(guide, page, position)] as const)
  return { ...guide, index: indexGuide(pages), shown: new Map([['', startPage(guide)], ...shown]) }
}

/** A failure that browsers see as a page. */
function failure(ctx: Context, reason: Problem): Problem {
  if (prefersPage(ctx)) ctx.state.framed = 'none'
  return reason
}

const startPage = (guide: Guide): CachedPage =>
  framed(guide, { title: 'Kontor API', current: '', query: '', body: renderStart(guide), headings: [], next: guide.pages[0] })

const contractPage = (guide: Guide, { name, title, body, sections }: GuidePage, position: number): CachedPage =>
  framed(guide, {
    title,
    current: name,
    query: '',
    body,
    headings: sections.filter(({ level }) => level > 1),
    previous: guide.pages[position - 1],
    next: guide.pages[position + 1],
  })

function framed(guide: Guide, shown: Omit<Frame, keyof Guide | 'files' | 'color'>): CachedPage {
  const { root } = guide
  const { text } = renderFrame({ ...guide, ...shown, files: `${root}/pages/${fileVersion}`, color: defaultColor.slice(1) })
  return cachedPage('text/html', text, pageHeaders('none'))
}
