import type { Db } from '#test/support/rows.ts'

/** Statements that add rows ($2) to a workspace ($1), by table. */
const fills = {
  calendars: `insert into calendars (workspace_id, id, key, kind, name, timezone)
    select $1, uuidv7(), 'cal-' || n, 'org', 'C', 'UTC' from generate_series(1, $2::integer) as n`,
  flows: `insert into flows (workspace_id, id, name, created_at, updated_at)
    select $1, uuidv7(), 'F', now(), now() from generate_series(1, $2::integer)`,
  forms: `insert into forms (workspace_id, id, key, name, description, fields, settings, published)
    select $1, uuidv7(), 'form-' || n, 'F', '', '[]', '{}', false from generate_series(1, $2::integer) as n`,
  functions: `insert into functions (workspace_id, id, name, description, source, timeout_ms, http_enabled, author_id)
    select $1, uuidv7(), 'F' || n, '', '', 5000, false, uuidv7() from generate_series(1, $2::integer) as n`,
  message_templates: `insert into message_templates (workspace_id, id, name, subject, body_text, body_html, created_at, updated_at)
    select $1, uuidv7(), 'T', 'S', '', '', now(), now() from generate_series(1, $2::integer)`,
  queues: `insert into queues (workspace_id, id, key, name, object_type, enabled, stages, intake, settings, editor_id)
    select $1, uuidv7(), 'q' || n, 'Q', null, true, '[]', '{}', '{}', uuidv7() from generate_series(1, $2::integer) as n`,
  sites: `insert into sites (workspace_id, id, key, name, published, created_at, updated_at)
    select $1, uuidv7(), 'site-' || n, 'S', false, now(), now() from generate_series(1, $2::integer) as n`,
} as const

/** A table that `fillTable` fills. */
export type FilledTable = keyof typeof fills

/** Adds so many rows to a table of a workspace, past the API. */
export async function fillTable(db: Db, table: FilledTable, workspaceId: string, count: number): Promise<void> {
  await db.query(fills[table], [workspaceId, count])
}
