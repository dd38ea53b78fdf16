import type { Context } from 'koa'
import { patienceMs } from '#api/http/prefer.ts'
import { sendData, sendDownload } from '#api/http/respond.ts'
import type { DelegateRoute, Request } from '#api/http/route.ts'
import { receiveUpload } from '#api/http/upload.ts'
import { fileDownload } from '#api/jobs/download.ts'
import type { ApiServices } from '#api/services.ts'
import type { PlatformScope, Scope } from '#shared/access/scope.ts'
import { Problem } from '#shared/kernel/errors.ts'
import { discardFile } from '#shared/queue/files.ts'
import type { Operation } from '#shared/queue/operations.ts'

/** Enqueues a route's work, waits for a worker as long as the caller wants, and answers with the result, its failure, or 202. */
export async function respondFromWorker(
  route: DelegateRoute,
  ctx: Context,
  request: Request<string, unknown, unknown>,
  scope: PlatformScope | Scope,
  services: ApiServices,
): Promise<void> {
  const workspaceId = 'workspace' in scope ? scope.workspace.id : null
  const fileId = route.upload ? await receiveUpload(ctx, route.upload, workspaceId, services.database) : ''
  let id: string
  try {
    const payload = await route.payload(request, scope as Scope, fileId)
    id = await services.queue.enqueue(services.database, route.job, { workspaceId, cause: scope.cause }, payload)
  } catch (error) {
    if (fileId) await discardFile(services.database, fileId)
    throw error
  }
  const patience = patienceMs(ctx.get('prefer'))
  if (patience.applied) ctx.set('Preference-Applied', patience.applied)
  const operation = patience.ms === 0 ? undefined : await services.waiter.wait(id, patience.ms, goneSignal(ctx))
  if (operation?.status === 'failed') throw failureOf(operation)
  if (operation?.status === 'done') return sendResult(ctx, operation, services)
  ctx.set('Location', `${services.config.publicUrl}/v1/orgs/${workspaceId}/jobs/${id}`)
  if (!patience.applied) ctx.set('Preference-Applied', 'respond-async')
  sendData(ctx, 202, { job_id: id, status: operation?.status ?? 'queued' })
}

async function sendResult(ctx: Context, operation: Operation, services: ApiServices): Promise<void> {
  if (operation.file_id === null) sendData(ctx, 200, operation.result)
  else sendDownload(ctx, 200, await fileDownload(services.database, operation.file_id))
}

/** A caller's mistake that the worker found reads as if the API had found it. */
const failureOf = (operation: Operation): Problem => new Problem(operation.error?.code ?? 'INTERNAL', operation.error?.message)

/** Aborts when the client has gone, so that nobody waits for it. */
function goneSignal(ctx: Context): AbortSignal {
  const gone = new AbortController()
  ctx.res.once('close', () => gone.abort())
  return gone.signal
}
