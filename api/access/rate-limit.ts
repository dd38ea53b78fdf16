import { createHash } from 'node:crypto'
import type { Context } from 'koa'
import { clientKey } from '#api/access/client-address.ts'
import type { LimitName } from '#api/http/declaration.ts'
import type { PasswordQuota } from '#shared/core/people/passwords.ts'
import type { Database } from '#shared/platform/db/database.ts'
import { countRequest, type RequestWindow } from '#shared/platform/db/rate-limit-store.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * The most requests of one client, or about one subject, in a window of 60 seconds (docs/contract/limits.md#rate-limits). Those of visitors
 * and of signing in are settings of the operator (docs/contract/limits.md#settings).
 */
const fixedQuotas = {
  // The route always answers 204, so it reveals no accounts. The quota protects the job queue.
  forgot: 60,
}

const windowSeconds = 60

/** Counts requests against their quotas, in fixed windows that all API processes share. */
export class RateLimits {
  readonly #database: Database
  readonly #signInLimit: Config['signInLimit']
  readonly #quotas: Readonly<Record<LimitName, number>>

  constructor(database: Database, { signInLimit, visitorLimits }: Pick<Config, 'signInLimit' | 'visitorLimits'>) {
    this.#database = database
    this.#signInLimit = signInLimit
    this.#quotas = { ...fixedQuotas, ...visitorLimits }
  }

  /** Counts one request of the client's address; throws RATE_LIMITED past the quota. Sets the RateLimit headers. */
  async countClient(ctx: Context, name: LimitName): Promise<void> {
    await this.#count(ctx, { name, most: this.#quotas[name] }, clientKey(ctx.ip))
  }

  /**
   * The quota of passwords for a request. Its functions throw and set headers as `countClient` does. A check counts for the client first:
   * a client past its own quota does not use up that of an account.
   */
  passwordQuota(ctx: Context): PasswordQuota {
    const { perAccount, perIp } = this.#signInLimit
    ctx.state.counted ??= new Set<string>()
    const countOnce = async (most: number, key: string): Promise<void> => {
      const counted = ctx.state.counted as Set<string>
      if (counted.has(key)) return
      await this.#count(ctx, { name: 'sign-in', most }, key)
      counted.add(key)
    }
    return {
      countCheck: async (email) => {
        await countOnce(perIp, clientKey(ctx.ip))
        await countOnce(perAccount, subjectKey(foldAddress(email)))
      },
      countSetting: (token) => countOnce(perAccount, subjectKey(`token ${token}`)),
    }
  }

  async #count(ctx: Context, { name, most }: { readonly name: string; readonly most: number }, key: string): Promise<void> {
    const window = await countRequest(this.#database, `${name}:${key}`, windowSeconds * 1_000)
    const left = Math.max(0, most - window.requests)
    // A request that counts against two quotas reports the one with fewer requests left.
    if (left <= ((ctx.state.requestsLeft as number | undefined) ?? left)) {
      ctx.state.requestsLeft = left
      ctx.set('RateLimit-Policy', `"${name}";q=${most};w=${windowSeconds}`)
      ctx.set('RateLimit', `"${name}";r=${left};t=${secondsOf(window)}`)
    }
    if (window.requests > most) {
      throw problem('RATE_LIMITED', undefined, { headers: { 'Retry-After': String(secondsOf(window)) } })
    }
  }
}

/**
 * An address as the database compares it (`lower` of PostgreSQL): each character by itself. JavaScript's `toLowerCase` makes two characters of
 * `İ` and reads Σ at the end of a word as another letter.
 */
const foldAddress = (email: string): string => Array.from(email.trim(), (letter) => Array.from(letter.toLowerCase())[0]).join('')

/** Rate limit key of a subject of any length, such as an account. */
const subjectKey = (subject: string): string => `subject ${createHash('sha256').update(subject).digest('base64')}`

const secondsOf = ({ leftMs }: RequestWindow): number => Math.max(1, Math.ceil(leftMs / 1000))
