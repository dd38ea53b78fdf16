import type { RateLimits } from '#api/access/rate-limit.ts'
import type { FeedStreams } from '#api/core/events/streams/feed-streams.ts'
import type { OpenStreams } from '#api/http/reply/open-streams.ts'
import type { BodyMemory } from '#api/http/request/body-memory.ts'
import type { Services } from '#shared/core/scope/scope.ts'
import type { Database } from '#shared/platform/db/database.ts'
import type { OperationWaiter } from '#shared/platform/jobs/operations/operation-waiter.ts'
import type { AnswerAdmission } from '#shared/platform/kernel/process/answer-admission.ts'

/** The services of the API process. */
export interface ApiServices extends Services {
  readonly database: Database
  readonly waiter: OperationWaiter
  readonly rateLimits: RateLimits
  readonly answers: AnswerAdmission
  readonly bodies: BodyMemory
  readonly streams: OpenStreams
  readonly feedStreams: FeedStreams
}
