import type { Blobs } from '#shared/platform/blobs/blobs.ts'
import type { Cache } from '#shared/platform/db/cache/cache.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import type { Cause } from '#shared/platform/kernel/cause.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import type { Parts } from '#shared/platform/kernel/process/part.ts'

/** The services of a process that the platform itself uses. */
export interface PlatformServices {
  readonly config: Config
  readonly cache: Cache
  readonly jobQueue: JobQueue
  /** Contents of files. */
  readonly blobs: Blobs
  readonly log: Logger
  /** Whether the database, the file store and the operator's mail server can be reached. */
  readonly parts: Parts
  /** Current time of the database clock (shared/platform/db/clock.ts); tests supply their own. */
  readonly now: () => Date
}

/** Scope of the platform's own jobs: no workspace, no caller. */
export interface JobScope extends PlatformServices {
  readonly db: Executor
  readonly cause: Cause
}
