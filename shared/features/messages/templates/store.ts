import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { creationPage } from '#shared/platform/db/lists.ts'
import { instant, jsonb, type RowOf, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

declareConflicts({ message_templates_cap: ['VALIDATION_ERROR', 'a workspace can have 1,000 templates; delete some first'] })

/**
 * The variables of a template that begin with a root of flows, sorted, by the part that holds them; at most ten of a part. The database
 * derives them (`flow_references`), so that a flow is checked without loading bodies.
 */
type FlowReferences = Readonly<Partial<Record<'subject' | 'body_text' | 'body_html', readonly string[]>>>

const heading = { id: uuid.notNull, name: text.notNull, subject: text.notNull }
const times = { created_at: instant.notNull, updated_at: instant.notNull }

const summaryColumns = { ...heading, ...times }
const columns = {
  ...heading,
  body_text: text.notNull,
  body_html: text.notNull,
  ...times,
  flow_references: jsonb.as<FlowReferences>().notNull,
}

/** A template as it is stored. */
export type StoredTemplate = RowOf<typeof columns>
const list = selectList(columns)

/** A page of a workspace's templates without their bodies, oldest first. */
export const findTemplates = creationPage(
  'messages.findTemplates',
  `select ${selectList(summaryColumns)} from message_templates where workspace_id = $workspaceId`,
  { params: { workspaceId: uuid }, columns: summaryColumns },
)

/** One template. */
export const findTemplate = statement(
  'messages.findTemplate',
  `select ${list} from message_templates where workspace_id = $workspaceId and id = $id`,
  { params: { workspaceId: uuid, id: uuid }, columns },
)

/** Inserts a template. */
export const insertTemplate = statement(
  'messages.insertTemplate',
  `insert into message_templates (workspace_id, id, name, subject, body_text, body_html, created_at, updated_at)
   values ($workspaceId, $id, $name, $subject, $bodyText, $bodyHtml, $now, $now)
   returning ${list}`,
  {
    params: { workspaceId: uuid, id: uuid, name: text, subject: text, bodyText: text, bodyHtml: text, now: instant },
    columns,
  },
)

/** Changes a template; null leaves a column unchanged. */
export const updateTemplate = statement(
  'messages.updateTemplate',
  `update message_templates
   set name = coalesce($name, name), subject = coalesce($subject, subject), body_text = coalesce($bodyText, body_text),
     body_html = coalesce($bodyHtml, body_html), updated_at = $now
   where workspace_id = $workspaceId and id = $id
   returning ${list}`,
  {
    params: {
      workspaceId: uuid,
      id: uuid,
      name: text.orNull,
      subject: text.orNull,
      bodyText: text.orNull,
      bodyHtml: text.orNull,
      now: instant,
    },
    columns,
  },
)

/** Deletes a template. */
export const deleteTemplate = statement(
  'messages.deleteTemplate',
  'delete from message_templates where workspace_id = $workspaceId and id = $id returning id',
  { params: { workspaceId: uuid, id: uuid }, columns: { id: uuid.notNull } },
)
