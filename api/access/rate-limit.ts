import ipaddr from 'ipaddr.js'
import type { Context } from 'koa'
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import type { LimitName } from '#api/http/route.ts'
import type { Database } from '#shared/db/database.ts'
import { problem } from '#shared/kernel/errors.ts'

/** Requests per 60-second window and client (document 1, Limits; decisions, Rate limits). */
const quotas: Readonly<Record<LimitName, number>> = { 'sign-in': 10 }

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
    this.#limiters = { 'sign-in': limiter('sign-in', quotas['sign-in']) }
  }

  /** Counts one request of the client's address; throws RATE_LIMITED past the quota. The answer carries what is left. */
  async take(ctx: Context, name: LimitName): Promise<void> {
    const state = await this.#count(name, clientKey(ctx.ip))
    ctx.set('RateLimit-Policy', `"${name}";q=${quotas[name]};w=${windowSeconds}`)
    ctx.set('RateLimit', `"${name}";r=${Math.max(0, state.remainingPoints)};t=${secondsOf(state)}`)
    if (state.consumedPoints > quotas[name]) throw limited(state)
  }

  /** Counts one request under a key of the route's own, such as the address that somebody signs in with. */
  async takeKey(name: LimitName, key: string): Promise<void> {
    const state = await this.#count(name, key)
    if (state.consumedPoints > quotas[name]) throw limited(state)
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

const limited = (state: RateLimiterRes) => problem('RATE_LIMITED', undefined, { headers: { 'Retry-After': String(secondsOf(state)) } })

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
