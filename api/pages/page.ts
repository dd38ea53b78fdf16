import { randomBytes } from 'node:crypto'
import { Reply } from '#api/http/reply/reply.ts'
import { fileVersion, type PageScript } from '#api/pages/assets/files.ts'
import { type PagePart, withPart } from '#api/pages/page-parts.ts'
import { type Html, template } from '#api/pages/template.ts'
import type { Problem } from '#shared/platform/kernel/errors.ts'

/** The workspace that a page belongs to, shown at its top in its colour. */
export interface Brand {
  readonly name: string
  /** `#rrggbb`; null for Kontor's colour. */
  readonly color: string | null
  /** The workspace's id. A workspace with a logo shows it instead of its name. */
  readonly id: string
  readonly logo: string | null
}

/** A page that a handler returns. */
export interface Page {
  readonly title: string
  readonly brand?: Brand
  /** Content below the title. */
  readonly body: Html
  /** A part whose mark the body holds. */
  readonly part?: PagePart
  /** The reason of a failure, which sets the answer's status. The body shows the message beside its field. */
  readonly failure?: Problem
  /** Address to redirect to at once; the body links to it too. A delayed redirect would interrupt slow readers. */
  readonly leadsTo?: string
  /** Optional script of the page. Everything works without it. */
  readonly script?: PageScript
  /** Whether the page has two columns on wide screens. */
  readonly isWide?: boolean
  /** Time zone of the times on the page, for its script. */
  readonly zone?: string
}

/** How a page is served. */
interface PageContext {
  readonly framed: 'any' | 'none'
  readonly publicUrl: string
}

interface Frame extends Page {
  /** Path of the public URL. */
  readonly root: string
  readonly files: string
  readonly color: string
  /** Only a script with this nonce runs (CSP level 3). */
  readonly nonce: string
}

const renderFrame = template<Frame>(new URL('frame.eta', import.meta.url))

/** Kontor's colour, for pages without a workspace. */
export const defaultColor = '#2f5bd3'

/**
 * Renders a page in the shared frame. Inline scripts and styles are blocked, other sites get no referrer, and browsers store no page, since
 * most pages are about one person.
 */
export function renderPage(page: Page, { framed, publicUrl }: PageContext): Reply {
  const root = basePathOf(publicUrl)
  const files = `${root}/pages/${fileVersion}`
  const color = (page.brand?.color ?? defaultColor).slice(1).toLowerCase()
  const nonce = randomBytes(16).toString('base64url')
  const scripts = page.script === undefined ? '' : `; script-src 'nonce-${nonce}'; connect-src 'self'`
  const headers = { ...pageHeaders(framed, scripts), 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' }
  const { text } = renderFrame({ ...page, root, files, color, nonce })
  return new Reply(
    page.part ? withPart(text, page.part) : text,
    { ...headers, ...page.failure?.headers },
    page.failure?.status,
    page.part?.isKept,
  )
}

/** Security headers of a page, whose policy allows no script but the ones that `scripts` adds. */
export const pageHeaders = (framed: 'any' | 'none', scripts = ''): Readonly<Record<string, string>> => ({
  'Content-Security-Policy': `${policy}${scripts}; frame-ancestors ${framed === 'any' ? '*' : "'none'"}`,
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
})

/** Path of the public URL, the prefix of every path; empty for a root URL. */
export function basePathOf(publicUrl: string): string {
  const { pathname } = new URL(publicUrl)
  return pathname === '/' ? '' : pathname
}

const policy = ["default-src 'none'", "style-src 'self'", "img-src 'self'", "form-action 'self'", "base-uri 'none'"].join('; ')
