import { createHash } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import type { Context } from 'koa'
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import type { LimitName } from '#api/http/route.ts'
import type { Database } from '#shared/db/database.ts'
import { problem } from '#shared/kernel/errors.ts'

/** Requests per 60-second window, of one client or about one subject (document 1, Limits; decisions, Rate limits). */
const quotas: Readonly<Record<LimitName, number>> = {
  'sign-in': 10,
  // Answers 204 to whatever is sent, so it is not for finding accounts; this is for whoever would fill the queue.
  forgot: 60,
  // Public HTTP functions.
  functions: 60,
}

const windowSeconds = 60

/** Counts requests of limited groups in fixed windows that all API processes share. */
export class RateLimits {
  readonly #limiters: Readonly<Record<LimitName, RateLimiterPostgres>>

  constructor(database: Database) {
    const limiter = (name: string, points: number) =>
      new RateLimiterPostgres({
        storeClient: database.pool,
        storeType: 'pool',
        tableName: 'rate_limits',
        tableCreated: true,
        keyPrefix: name,
        points,
        duration: windowSeconds,
        clearExpiredByTimeout: false,
      })
    const limiters = Object.entries(quotas).map(([name, points]) => [name, limiter(name, points)] as const)
    this.#limiters = Object.fromEntries(limiters) as Record<LimitName, RateLimiterPostgres>
  }

  /** Counts one request of the client's address; throws RATE_LIMITED past the quota. The answer carries what is left. */
  async take(ctx: Context, name: LimitName): Promise<void> {
    await this.#take(ctx, name, clientKey(ctx.ip))
  }

  /** The same for what the request is about, such as the account that somebody signs in to; it may be text of any length. */
  async takeSubject(ctx: Context, name: LimitName, subject: string): Promise<void> {
    await this.#take(ctx, name, `subject ${createHash('sha256').update(subject).digest('base64')}`)
  }

  async #take(ctx: Context, name: LimitName, key: string): Promise<void> {
    const state = await this.#count(name, key)
    const left = Math.max(0, state.remainingPoints)
    // A request that is counted twice is told of what is nearer to its end.
    if (left <= ((ctx.state.requestsLeft as number | undefined) ?? left)) {
      ctx.state.requestsLeft = left
      ctx.set('RateLimit-Policy', `"${name}";q=${quotas[name]};w=${windowSeconds}`)
      ctx.set('RateLimit', `"${name}";r=${left};t=${secondsOf(state)}`)
    }
    if (state.consumedPoints > quotas[name]) {
      throw problem('RATE_LIMITED', undefined, { headers: { 'Retry-After': String(secondsOf(state)) } })
    }
  }

  async #count(name: LimitName, key: string): Promise<RateLimiterRes> {
    try {
      return await this.#limiters[name].consume(key)
    } catch (refused) {
      if (refused instanceof RateLimiterRes) return refused
      throw refused
    }
  }
}

const secondsOf = (state: RateLimiterRes): number => Math.max(1, Math.ceil(state.msBeforeNext / 1000))

/** The client's address; IPv6 counts by /64, an IPv4 address in IPv6 form as what it is. */
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
