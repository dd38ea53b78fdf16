import type { ActionPage, ActionsQuery, OperatorAction } from '#shared/core/operators/schemas.ts'
import { insertAction, selectActions } from '#shared/core/operators/store.ts'
import { createReader, type Operator, type PlatformScope } from '#shared/core/scope/scope.ts'
import { firstRow, type Tx } from '#shared/platform/db/database.ts'
import { listById } from '#shared/platform/db/lists.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/**
 * Adds what an operator did to the log, in the transaction of the action. `subject` names what was acted on, `count` says how many it were.
 * Throws FORBIDDEN, so that nothing is committed, for a person who meanwhile is no operator any more or a read-only one.
 */
export async function recordAction(
  tx: Tx,
  operator: Operator,
  action: OperatorAction,
  subject: Readonly<Record<string, unknown>>,
  count = 1,
): Promise<void> {
  const written = insertAction({
    id: newId(),
    operatorId: operator.id,
    operator: operator.name,
    action,
    subject: JSON.stringify(subject),
    count,
  })
  if (!(await firstRow(tx, written))) throw problem('FORBIDDEN', 'You are no operator any more, or a read-only one')
}

/** A page of what operators did, newest first. */
export async function listActions(scope: PlatformScope, query: ActionsQuery): Promise<ActionPage> {
  const { page, next } = await listById({ ...scope, db: createReader(scope) }, query, (beforeId, limit) =>
    selectActions({ beforeId, limit }),
  )
  return { entries: page, next_cursor: next }
}
