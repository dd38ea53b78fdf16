import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type Router from '@koa/router'
import type { Context } from 'koa'
import { type Accent, readableAccents } from '#api/pages/assets/contrast.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

/** Scripts that a page may load; they are files, since inline scripts are blocked. */
export type PageScript = 'swap.js' | 'print.js' | 'live.js'

/** Static files of pages, by name. */
const files: Readonly<Record<string, { readonly type: string; readonly text: string }>> = {
  'page.css': { type: 'text/css', text: read('page.css') },
  'guide.css': { type: 'text/css', text: read('guide.css') },
  'swap.js': { type: 'text/javascript', text: read('swap.js') },
  'print.js': { type: 'text/javascript', text: read('print.js') },
  'live.js': { type: 'text/javascript', text: read('live.js') },
  'icon.svg': { type: 'image/svg+xml', text: read('icon.svg') },
}

/** Serves the pages' stylesheet, scripts and icon, and a stylesheet per accent colour, since inline styles are blocked. */
export function servePageFiles(routerFor: (path: string) => Router): void {
  const router = routerFor('/pages')
  router.get(`/pages/${fileVersion}/color/:name`, (ctx) => {
    const [, color] = /^([0-9a-f]{6})\.css$/.exec(ctx.params.name ?? '') ?? []
    if (color === undefined) throw problem('NOT_FOUND')
    send(ctx, 'text/css', colorSheet(`#${color}`))
  })
  router.get(`/pages/${fileVersion}/:name`, (ctx) => {
    const name = ctx.params.name ?? ''
    const file = Object.hasOwn(files, name) ? files[name] : undefined
    if (!file) throw problem('NOT_FOUND')
    send(ctx, file.type, file.text)
  })
}

function send(ctx: Context, type: string, text: string): void {
  ctx.set({ 'Cache-Control': 'public, max-age=31536000, immutable', 'X-Content-Type-Options': 'nosniff' })
  ctx.type = type
  ctx.body = text
}

function colorSheet(color: string): string {
  const { light, dark } = readableAccents(color)
  return `:root { ${properties(light)} }\n@media (prefers-color-scheme: dark) { :root { ${properties(dark)} } }\n`
}

function properties({ accent, onAccent }: Accent): string {
  return `--accent: ${accent}; --on-accent: ${onAccent};`
}

/** Hash of all files, part of their addresses, so browsers may cache them forever. */
export const fileVersion = createHash('sha256')
  .update(JSON.stringify([files, colorSheet('#2f5bd3'), colorSheet('#ffee00')]))
  .digest('base64url')
  .slice(0, 12)
