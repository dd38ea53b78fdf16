import { createHash } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import type { Context } from 'koa'
import type { LimitName } from '#api/http/declaration.ts'
import type { Database } from '#shared/platform/db/database.ts'
import { countRequest, type RequestWindow } from '#shared/platform/db/rate-limit-store.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * The most requests of one client, or about one subject, in a window of 60 seconds (document 1, Limits; decisions, Rate limits). Those of
 * visitors are settings of the operator (page 5, People and visitors).
 */
const fixedQuotas = {
  'sign-in': 10,
  // The route always answers 204, so it reveals no accounts. The quota protects the job queue.
  forgot: 60,
}

const windowSeconds = 60

/** Counts requests against their quotas, in fixed windows that all API processes share. */
export class RateLimits {
  readonly #database: Database
  readonly #quotas: Readonly<Record<LimitName, number>>

  constructor(database: Database, { visitorLimits }: Pick<Config, 'visitorLimits'>) {
    this.#database = database
    this.#quotas = { ...fixedQuotas, ...visitorLimits }
  }

  /** Counts one request of the client's address; throws RATE_LIMITED past the quota. Sets the RateLimit headers. */
  async countClient(ctx: Context, name: LimitName): Promise<void> {
    await this.#count(ctx, name, clientKey(ctx.ip))
  }

  /** Counts one request about a subject of any length, such as an account; throws and sets headers as `countClient` does. */
  async countSubject(ctx: Context, name: LimitName, subject: string): Promise<void> {
    await this.#count(ctx, name, `subject ${createHash('sha256').update(subject).digest('base64')}`)
  }

  async #count(ctx: Context, name: LimitName, key: string): Promise<void> {
    const window = await countRequest(this.#database, `${name}:${key}`, windowSeconds * 1_000)
    const quota = this.#quotas[name]
    const left = Math.max(0, quota - window.requests)
    // A request that counts against two quotas reports the one with fewer requests left.
    if (left <= ((ctx.state.requestsLeft as number | undefined) ?? left)) {
      ctx.state.requestsLeft = left
      ctx.set('RateLimit-Policy', `"${name}";q=${quota};w=${windowSeconds}`)
      ctx.set('RateLimit', `"${name}";r=${left};t=${secondsOf(window)}`)
    }
    if (window.requests > quota) {
      throw problem('RATE_LIMITED', undefined, { headers: { 'Retry-After': String(secondsOf(window)) } })
    }
  }
}

const secondsOf = ({ leftMs }: RequestWindow): number => Math.max(1, Math.ceil(leftMs / 1000))

/** Rate limit key of the client's address: the /64 prefix of an IPv6 address; an IPv4-mapped IPv6 address counts as IPv4. */
function clientKey(text: string): string {
  if (!ipaddr.isValid(text)) return 'unknown'
  const address = ipaddr.process(text)
  return address instanceof ipaddr.IPv6
    ? address.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')
    : address.toString()
}
