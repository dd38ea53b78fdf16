import type { PlatformScope, Scope } from '#shared/core/scope/scope.ts'
import type { JobDefinition } from '#shared/platform/jobs/job.ts'
import { defineJobHandler, type Handler, type Run } from '#workers/platform/jobs/handler.ts'

/** Defines the handler of a workspace's job. It runs as the principal that caused the job, with its current rights. */
export const defineHandler = <Payload, Result>(
  job: JobDefinition<Payload, Result>,
  run: Run<Payload, Result, Scope>,
): Handler<Payload, Result, Scope> => Object.freeze({ job, inWorkspace: true, run })

/** Defines the handler of a job that runs as the platform: it has no workspace, one that is not ready yet, or no principal. */
export const definePlatformHandler = <Payload, Result>(job: JobDefinition<Payload, Result>, run: Run<Payload, Result, PlatformScope>) =>
  defineJobHandler(job, run)
