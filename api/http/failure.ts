import type { Context } from 'koa'
import { Problem, problem } from '#shared/kernel/errors.ts'
import type { Logger } from '#shared/kernel/log.ts'

/** The one place that turns whatever was thrown into a response: a Problem as it is, anything else as INTERNAL, logged once with its cause. */
export function answerFailure(ctx: Context, error: unknown, log: Logger): void {
  const requestId: string = ctx.state.requestId
  const shown = error instanceof Problem ? error : problem('INTERNAL', undefined, { cause: error })
  if (shown.status >= 500 && shown.code !== 'ORG_NOT_READY' && !shown.expected) {
    log.error({ err: shown.cause ?? shown, request_id: requestId, method: ctx.method, route: ctx.state.route }, 'request failed')
  }
  if (ctx.headerSent) {
    ctx.res.destroy()
    return
  }
  for (const name of ctx.res.getHeaderNames()) if (!kept.has(name)) ctx.res.removeHeader(name)
  ctx.status = shown.status
  ctx.set(shown.headers)
  ctx.type = 'application/json'
  ctx.body = JSON.stringify({ error: { code: shown.code, message: shown.message, request_id: requestId } })
}

/** Headers of a half-made answer that its failure keeps. */
const kept = new Set([
  'x-request-id',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'ratelimit',
  'ratelimit-policy',
  'vary',
])
