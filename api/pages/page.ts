import { randomBytes } from 'node:crypto'
import { Reply } from '#api/http/reply.ts'
import { fileVersion, type PageScript } from '#api/pages/files.ts'
import { type Html, template } from '#api/pages/template.ts'
import type { Problem } from '#shared/kernel/errors.ts'

/** Whose page it is: shown above it, in its colour. */
export interface Brand {
  readonly name: string
  /** `#rrggbb`, or null for Kontor's own. */
  readonly color: string | null
  /** The workspace's id and whether it has a logo, which then stands in the place of the name. */
  readonly id: string
  readonly logo: string | null
}

/** What a page's handler gives back. */
export interface Page {
  readonly title: string
  readonly brand?: Brand
  /** What stands below the title. */
  readonly body: Html
  /** Why it could not do what was asked: gives the answer its status. What is to be mended stands in the body, beside its field. */
  readonly failure?: Problem
  /** Where it leads at once by itself; the body has a link to the same place. A wait before it would take the page from slow readers. */
  readonly leadsTo?: string
  /** A file of api/pages that makes the page quicker to use. Everything works without it. */
  readonly script?: PageScript
  /** Whether the page has two columns where there is room. */
  readonly isWide?: boolean
  /** The time zone in which the page shows times, for its script. */
  readonly zone?: string
}

/** Where a page is shown. */
interface Place {
  readonly framed: 'any' | 'none'
  readonly publicUrl: string
}

interface Frame extends Page {
  /** The path of the public address. */
  readonly root: string
  readonly files: string
  readonly color: string
  /** The only script that runs is the one that carries it (CSP level 3, nonces). */
  readonly nonce: string
}

const frame = template<Frame>(new URL('frame.eta', import.meta.url))

/** Kontor's own colour. */
const ownColor = '#2f5bd3'

/**
 * A whole page in the frame that all pages share. Nothing inline runs or styles, no address of it tells where it leads, and browsers keep
 * none: most are about one person.
 */
export function renderPage(page: Page, { framed, publicUrl }: Place): Reply {
  const root = rootOf(publicUrl)
  const files = `${root}/pages/${fileVersion}`
  const color = (page.brand?.color ?? ownColor).slice(1).toLowerCase()
  const nonce = randomBytes(16).toString('base64url')
  const scripts = page.script === undefined ? '' : `; script-src 'nonce-${nonce}'; connect-src 'self'`
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': `${policy}${scripts}; frame-ancestors ${framed === 'any' ? '*' : "'none'"}`,
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  }
  return new Reply(frame({ ...page, root, files, color, nonce }).text, { ...headers, ...page.failure?.headers }, page.failure?.status)
}

/** The path of the public address, behind which everything stands. */
export function rootOf(publicUrl: string): string {
  const { pathname } = new URL(publicUrl)
  return pathname === '/' ? '' : pathname
}

const policy = ["default-src 'none'", "style-src 'self'", "img-src 'self'", "form-action 'self'", "base-uri 'none'"].join('; ')
