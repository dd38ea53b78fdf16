import { recordAction } from '#shared/core/operators/log.ts'
import { operatorOf } from '#shared/core/operators/operators.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { flushMails } from '#shared/platform/mail/flush.ts'

/** Does what `flushMails` does, with its entry in the log where a mail had to wait. Returns the number of these. */
export async function tryWaitingMails(
  scope: Pick<PlatformScope, 'db' | 'jobQueue' | 'now' | 'operator'>,
  workspaceId: string | undefined,
): Promise<number> {
  return scope.db.transaction(async (tx) => {
    const tried = await flushMails({ db: tx, jobQueue: scope.jobQueue, now: scope.now }, workspaceId)
    if (tried > 0) await recordAction(tx, operatorOf(scope), 'mail.flush', { workspace: workspaceId ?? null }, tried)
    return tried
  })
}
