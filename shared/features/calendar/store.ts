import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

const find = sql(
  'find_calendar_people',
  `select person.id, person.email, person.name from members as member join users as person on person.id = member.user_id
   where member.workspace_id = $1 and member.user_id = any($2) order by person.id`,
)
/** Members by their ids. */
export const findMembersById = (
  db: Executor,
  workspaceId: string,
  ids: readonly string[],
): Promise<{ readonly id: string; readonly email: string; readonly name: string }[]> =>
  ids.length === 0 ? Promise.resolve([]) : db.query(find(workspaceId, ids))
