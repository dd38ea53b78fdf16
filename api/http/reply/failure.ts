import type { Context } from 'koa'
import type { ApiServices } from '#api/http/services.ts'
import { failurePage } from '#api/pages/failure-page.ts'
import { renderPage } from '#api/pages/page.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { countRefusal } from '#shared/platform/kernel/process/part.ts'

/** Turns a thrown error into a response: a Problem as it is, any other as INTERNAL. Server errors are logged once. */
export function answerFailure(ctx: Context, error: unknown, { log, config: { publicUrl } }: Pick<ApiServices, 'log' | 'config'>): void {
  const requestId: string = ctx.state.requestId
  const shown = error instanceof Problem ? error : problem('INTERNAL', undefined, { cause: error })
  ctx.state.isRefused = countRefusal(shown)
  if (shown.status >= 500 && shown.code !== 'ORG_NOT_READY' && !shown.expected && !ctx.state.isRefused) {
    log.error({ err: shown.cause ?? shown, method: ctx.method, route: ctx.state.route }, 'request failed')
  }
  if (ctx.headerSent) {
    ctx.res.destroy()
    return
  }
  for (const name of ctx.res.getHeaderNames()) if (!keptHeaders.has(name)) ctx.res.removeHeader(name)
  ctx.status = shown.status
  ctx.set(shown.headers)
  if (ctx.state.framed) sendFailurePage(ctx, shown, requestId, publicUrl)
  else {
    ctx.type = 'application/json'
    ctx.body = JSON.stringify({ error: { code: shown.code, message: shown.message, request_id: requestId } })
  }
}

function sendFailurePage(ctx: Context, shown: Problem, requestId: string, publicUrl: string): void {
  const { body, headers } = renderPage(failurePage(shown, requestId, ctx.state.entrance), { framed: ctx.state.framed, publicUrl })
  ctx.set(headers)
  ctx.body = body
}

/** Headers that an error response keeps from the unfinished answer. */
const keptHeaders = new Set([
  'x-request-id',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'ratelimit',
  'ratelimit-policy',
  'vary',
])
