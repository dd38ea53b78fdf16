import type { HeardChanges } from '#shared/events/change.ts'
import { handBack } from '#shared/events/outbox.ts'
import type { JobDefinition } from '#shared/queue/job.ts'
import type { PlatformScope } from '#shared/scope/scope.ts'
import { findWorkspace } from '#shared/scope/workspace.ts'
import { type Handler, platformHandler } from '#workers/handler.ts'

/**
 * Joins the job of a subscriber to the code that does it, as the platform. What was handed on before the workspace was suspended goes back to
 * wait with the rest; of a workspace that is gone nothing is done.
 */
export const subscriberHandler = (
  subscriber: string,
  job: JobDefinition<HeardChanges, null>,
  run: (scope: PlatformScope, heard: HeardChanges) => Promise<void>,
): Handler<HeardChanges, null> =>
  platformHandler(job, async ({ payload, scope }) => {
    const { workspaceId } = payload
    const workspace = await scope.cache.remember(scope.db, workspaceId, 'workspace', () => findWorkspace(scope.db, workspaceId))
    if (workspace?.status === 'suspended') await handBack(scope.db, subscriber, payload, scope.cause)
    else if (workspace) await run(scope, payload)
    return { result: null }
  })
