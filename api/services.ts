import type { RateLimits } from '#api/access/rate-limit.ts'
import type { Database } from '#shared/db/database.ts'
import type { Waiter } from '#shared/queue/waiter.ts'
import type { Services } from '#shared/scope/scope.ts'

/** What the API holds beside what every process holds. */
export interface ApiServices extends Services {
  readonly database: Database
  readonly waiter: Waiter
  readonly rateLimits: RateLimits
}
