import type { Executor } from '#shared/platform/db/database.ts'
import { type RowOf, selectList, text, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/** Columns of a member's person. */
export const memberColumns = { id: uuid.notNull, email: text.notNull, name: text.notNull }

/** A member of the workspace. */
export type Member = RowOf<typeof memberColumns>

const selectMembersById = statement(
  'calendar.selectMembersById',
  `select ${selectList(memberColumns, 'person')} from members as member join users as person on person.id = member.user_id
   where member.workspace_id = $workspaceId and member.user_id = any($ids) order by person.id`,
  { params: { workspaceId: uuid, ids: uuids }, columns: memberColumns },
)
/** Members by their ids. */
export const findMembersById = (db: Executor, workspaceId: string, ids: readonly string[]): Promise<Member[]> =>
  ids.length === 0 ? Promise.resolve([]) : db.query(selectMembersById({ workspaceId, ids }))
