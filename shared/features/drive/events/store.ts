import type { Space } from '#shared/features/drive/schemas.ts'
import { text, texts, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { insertHappenings } from '#shared/platform/events/inbox-store.ts'

/** Parameters of the SQL that `insertObjectEvents` makes, beside `workspaceId` and `spaceId`; `cause` is JSON text. */
export const objectEventParams = { cause: text } as const

/**
 * The select list of an event of a file for `insertObjectEvents`, after its `event`; `file` is the name of its row, `more` SQL of a JSON
 * object of further data. An object has no id, so the subject's id is that of the space.
 */
export const objectEvent = (file: string, more = `'{}'::jsonb`): string =>
  `$spaceId::uuid::text as topic, $spaceId::uuid as subject_id, jsonb_build_object('space', $spaceId::uuid, 'key', ${file}.key) as subject,
   ${more} || jsonb_build_object('size', ${file}.size_bytes, 'content_type', ${file}.content_type) as data, null::jsonb as kept,
   ${file}.key as position`

/** Inserts events of files as part of the statement that changes them; `rows` selects `event` and `objectEvent`. */
export const insertObjectEvents = (rows: string): string =>
  insertHappenings({ source: 'drive', workspace: '$workspaceId', cause: '$cause', from: rows })

/** Some spaces, without drives of members who left, and the prefixes of the shares in each that a person may use. */
export const findSharedPrefixes = statement(
  'drive.findSharedPrefixes',
  `select space.id, space.key, space.type, space.owner_id, array(
     select distinct share.prefix from drive_shares as share
     where share.workspace_id = space.workspace_id and share.space_id = space.id
       and (share.grantee_id = $personId or share.grantee_id is null)
   )::text[] as prefixes
   from drive_spaces as space where workspace_id = $workspaceId and id = any($ids::uuid[]) and left_at is null order by id`,
  {
    params: { workspaceId: uuid, ids: uuids, personId: uuid.orNull },
    columns: { id: uuid.notNull, key: text.notNull, type: text.as<Space['type']>().notNull, owner_id: uuid, prefixes: texts.notNull },
  },
)
