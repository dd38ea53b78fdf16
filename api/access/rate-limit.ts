import { createHash } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import type { Context } from 'koa'
import type { LimitName } from '#api/http/declaration.ts'
import type { Database } from '#shared/platform/db/database.ts'
import { countRequest, type RequestWindow } from '#shared/platform/db/rate-limit-store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** Requests per 60-second window, of one client or about one subject (document 1, Limits; decisions, Rate limits). */
const quotas: Readonly<Record<LimitName, number>> = {
  'sign-in': 10,
  // Answers 204 to whatever is sent, so it is not for finding accounts; this is for whoever would fill the queue.
  forgot: 60,
  // Public HTTP functions.
  functions: 60,
  // Submissions of public forms.
  forms: 30,
  // Public website content.
  content: 240,
  // Booking pages, subscription feeds and invitations.
  calendar: 60,
}

const windowSeconds = 60

/** Counts requests of limited groups in fixed windows that all API processes share. */
export class RateLimits {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** Counts one request of the client's address; throws RATE_LIMITED past the quota. The answer carries what is left. */
  async countClient(ctx: Context, name: LimitName): Promise<void> {
    await this.#take(ctx, name, clientKey(ctx.ip))
  }

  /** The same for what the request is about, such as the account that somebody signs in to; it may be text of any length. */
  async countSubject(ctx: Context, name: LimitName, subject: string): Promise<void> {
    await this.#take(ctx, name, `subject ${createHash('sha256').update(subject).digest('base64')}`)
  }

  async #take(ctx: Context, name: LimitName, key: string): Promise<void> {
    const window = await countRequest(this.#database, `${name}:${key}`, windowSeconds * 1_000)
    const left = Math.max(0, quotas[name] - window.requests)
    // A request that is counted twice is told of what is nearer to its end.
    if (left <= ((ctx.state.requestsLeft as number | undefined) ?? left)) {
      ctx.state.requestsLeft = left
      ctx.set('RateLimit-Policy', `"${name}";q=${quotas[name]};w=${windowSeconds}`)
      ctx.set('RateLimit', `"${name}";r=${left};t=${secondsOf(window)}`)
    }
    if (window.requests > quotas[name]) {
      throw problem('RATE_LIMITED', undefined, { headers: { 'Retry-After': String(secondsOf(window)) } })
    }
  }
}

const secondsOf = ({ leftMs }: RequestWindow): number => Math.max(1, Math.ceil(leftMs / 1000))

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
