import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { creationPageSql } from '#shared/platform/db/lists.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

declareConflicts({ message_templates_cap: ['VALIDATION_ERROR', 'a workspace can have 1,000 templates; delete some first'] })

const columns = 'id, name, subject, body_text, body_html, created_at, updated_at'

/**
 * A page of a workspace's templates without their bodies, oldest first. Values: workspace, position after which the page begins, page size.
 */
export const findTemplates = creationPageSql(
  'list_message_templates',
  'select id, name, subject, created_at, updated_at from message_templates where workspace_id = $1',
  1,
)

/** One template. Values: workspace, id. */
export const findTemplate = sql('find_message_template', `select ${columns} from message_templates where workspace_id = $1 and id = $2`)

/** Stores a template. Values: workspace, id, name, subject, text, HTML, time. */
export const insertTemplate = sql(
  'insert_message_template',
  `insert into message_templates (workspace_id, id, name, subject, body_text, body_html, created_at, updated_at)
   values ($1, $2, $3, $4, $5, $6, $7, $7) returning ${columns}`,
)

/** Changes a template; null leaves a column unchanged. Values: workspace, id, name, subject, text, HTML, time. */
export const updateTemplate = sql(
  'update_message_template',
  `update message_templates
   set name = coalesce($3, name), subject = coalesce($4, subject), body_text = coalesce($5, body_text),
     body_html = coalesce($6, body_html), updated_at = $7
   where workspace_id = $1 and id = $2 returning ${columns}`,
)

/** Deletes a template. Values: workspace, id. */
export const deleteTemplate = sql(
  'delete_message_template',
  'delete from message_templates where workspace_id = $1 and id = $2 returning id',
)
