import type { Scope } from '#shared/core/scope/scope.ts'
import type { MessageQuery, MessageSummary, MessageView } from '#shared/features/messages/sending/schemas.ts'
import { findMessage, findMessages, findRecordMessages } from '#shared/features/messages/store.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { highestId, isUuid } from '#shared/platform/kernel/ids.ts'

/** Messages of the workspace, newest first. Throws VALIDATION_ERROR for a cursor that is not an id. */
export async function listMessages({ db, workspace }: Scope, query: MessageQuery): Promise<MessageSummary[]> {
  const { cursor = highestId, status, record_id, limit } = query
  if (!isUuid(cursor)) throw problem('VALIDATION_ERROR', 'cursor must be the id of the last message of the previous page')
  const page = { workspaceId: workspace.id, beforeId: cursor, status, limit }
  return db.query(record_id === undefined ? findMessages(page) : findRecordMessages({ ...page, recordId: record_id }))
}

/** One message, with its bodies for as long as they are kept. Throws NOT_FOUND. */
export async function getMessage({ db, workspace }: Scope, id: string): Promise<MessageView> {
  return requireRow(isUuid(id) ? await db.query(findMessage({ workspaceId: workspace.id, id })) : [])
}
