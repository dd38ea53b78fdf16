import type { Scope } from '#shared/core/scope/scope.ts'
import type { MessageQuery, MessageSummary, MessageView } from '#shared/features/messages/sending/schemas.ts'
import { findMessage, findMessages, findRecordMessages } from '#shared/features/messages/store.ts'
import { type LinkedPage, listById } from '#shared/platform/db/lists.ts'
import { requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** Messages of the workspace, newest first. Throws VALIDATION_ERROR for a cursor of another list. */
export async function listMessages(scope: Scope, query: MessageQuery): Promise<LinkedPage<MessageSummary>> {
  const { status, record_id } = query
  const { page, next } = await listById(scope, query, (beforeId, limit) => {
    const params = { workspaceId: scope.workspace.id, beforeId, status, limit }
    return record_id === undefined ? findMessages(params) : findRecordMessages({ ...params, recordId: record_id })
  })
  return { items: page, next }
}

/** One message, with its bodies for as long as they are kept. Throws NOT_FOUND. */
export async function getMessage({ db, workspace }: Scope, id: string): Promise<MessageView> {
  return requireRow(isUuid(id) ? await db.query(findMessage({ workspaceId: workspace.id, id })) : [])
}
