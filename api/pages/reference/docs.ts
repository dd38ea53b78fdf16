import { readFileSync } from 'node:fs'
import type Router from '@koa/router'
import { describeApi } from '#api/http/openapi/describe-api.ts'
import type { Section } from '#api/http/route.ts'
import { cachedPage, sendCached } from '#api/pages/cached-page.ts'
import { basePathOf } from '#api/pages/page.ts'
import { isAsset, readAsset, swaggerUiVersion } from '#api/pages/reference/swagger-ui.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * Serves `/openapi.json`, and `/docs/reference`: a page that loads nothing from other hosts (docs/contract/conventions.md#api-description).
 */
export function serveDescription(routerFor: (path: string) => Router, sections: readonly Section[], publicUrl: string): void {
  const { origin } = new URL(publicUrl)
  const root = basePathOf(publicUrl)
  // Built on the first request: at start it would cost 100 ms.
  const buildDocument = () =>
    cachedPage('application/json', JSON.stringify(describeApi(sections, publicUrl)), { 'Access-Control-Allow-Origin': '*' })
  let document: ReturnType<typeof buildDocument> | undefined
  const reference = cachedPage('text/html', html(root), {
    'Content-Security-Policy': contentPolicy(origin),
    'Referrer-Policy': 'no-referrer',
  })
  const start = cachedPage('text/javascript', script(root))
  const style = cachedPage('text/css', readFileSync(new URL('docs.css', import.meta.url), 'utf8'))
  routerFor('/openapi.json').get('/openapi.json', (ctx) => {
    document ??= buildDocument()
    sendCached(ctx, document)
  })
  const router = routerFor('/docs')
  router.get('/docs/reference', (ctx) => sendCached(ctx, reference))
  router.get('/docs/start.js', (ctx) => sendCached(ctx, start))
  router.get('/docs/docs.css', (ctx) => sendCached(ctx, style))
  router.get(`/docs/${swaggerUiVersion}/:name`, async (ctx) => {
    const name = ctx.params.name ?? ''
    if (!isAsset(name)) throw problem('NOT_FOUND')
    const { type, bytes } = await readAsset(name)
    sendCached(ctx, { type, body: bytes, etag: swaggerUiVersion, headers: { 'Cache-Control': 'public, max-age=31536000, immutable' } })
  })
}

// Scripts and styles come from this server, and requests go only to it.
const contentPolicy = (origin: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self' ${origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

const html = (root: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Kontor API</title>
<link rel="icon" type="image/png" href="${root}/docs/${swaggerUiVersion}/favicon-32x32.png">
<link rel="stylesheet" href="${root}/docs/${swaggerUiVersion}/swagger-ui.css">
<link rel="stylesheet" href="${root}/docs/docs.css">
</head>
<body>
<div id="reference"></div>
<script src="${root}/docs/${swaggerUiVersion}/swagger-ui-bundle.js"></script>
<script src="${root}/docs/start.js"></script>
</body>
</html>
`

function script(root: string): string {
  const options = {
    url: `${root}/openapi.json`,
    dom_id: '#reference',
    deepLinking: true,
    docExpansion: 'none',
    filter: true,
    validatorUrl: null,
  }
  return `SwaggerUIBundle(${JSON.stringify(options)})\n${fixScript}`
}

/**
 * Accessibility fixes for Swagger UI's missing or wrong names, landmarks and heading levels: attributes to set, or null to remove, by
 * selector.
 */
const accessibilityFixes = {
  '#servers': { 'aria-label': 'Server' },
  '.information-container': { role: 'region', 'aria-label': 'About' },
  '.scheme-container': { role: 'region', 'aria-label': 'Server and key' },
  '.filter-container': { role: 'search' },
  '.operation-filter-input': { 'aria-label': 'Filter by tag or path' },
  'h3.opblock-tag, .models > h4, .modal-ux-header > h3': { 'aria-level': '2' },
  '.opblock h4, .model-container h4, .modal-ux-content h4': { 'aria-level': '3' },
  '.opblock h5': { 'aria-level': '4' },
  '.opblock-summary-control a[href]': { href: null },
  '.responses-table[role]': { role: null },
  '.close-modal': { 'aria-label': 'Close' },
  '.modal-btn.authorize[aria-label]': { 'aria-label': null },
}

/** Script that applies the fixes after every change of the page, and follows the reader's preferred colour scheme. */
const fixScript = `new MutationObserver(() => {
  for (const [selector, attributes] of Object.entries(${JSON.stringify(accessibilityFixes)})) {
    for (const element of document.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(attributes)) {
        if (value === null) element.removeAttribute(name)
        else if (element.getAttribute(name) !== value) element.setAttribute(name, value)
      }
    }
  }
}).observe(document.getElementById('reference'), { childList: true, subtree: true })
const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()
`
