import type { Scope } from '#shared/core/scope/scope.ts'
import { parseHtml } from '#shared/features/messages/templates/parse-html.ts'
import type { TemplateChange, TemplateInput, TemplateSummary, TemplateView } from '#shared/features/messages/templates/schemas.ts'
import { deleteTemplate, findTemplate, findTemplates, insertTemplate, updateTemplate } from '#shared/features/messages/templates/store.ts'
import { type LinkedPage, type LinkedQuery, listByCreation } from '#shared/platform/db/lists.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'

/** Templates of the workspace without their bodies, oldest first. Throws VALIDATION_ERROR like `listByCreation`. */
export const listTemplates = ({ db, workspace }: Scope, query: LinkedQuery): Promise<LinkedPage<TemplateSummary>> =>
  listByCreation<TemplateSummary, TemplateSummary>(db, query, {
    list: `templates ${workspace.id}`,
    find: (...page) => findTemplates(workspace.id, ...page),
    show: (rows) => rows,
  })

/** One template; throws NOT_FOUND. */
export async function getTemplate({ db, workspace }: Scope, id: string): Promise<TemplateView> {
  return requireRow(isUuid(id) ? await db.query<TemplateView>(findTemplate(workspace.id, id)) : [])
}

/** Creates a template. Throws VALIDATION_ERROR for HTML with a variable where none is allowed. */
export async function createTemplate({ db, workspace, now }: Scope, input: TemplateInput): Promise<TemplateView> {
  const { name, subject, body_text = '', body_html = '' } = input
  parseHtml(body_html)
  return requireRow(await db.query<TemplateView>(insertTemplate(workspace.id, newId(), name, subject, body_text, body_html, now())))
}

/**
 * Changes the sent properties of a template; queued messages keep their text. Throws NOT_FOUND, and VALIDATION_ERROR like `createTemplate`.
 */
export async function changeTemplate({ db, workspace, now }: Scope, id: string, change: TemplateChange): Promise<TemplateView> {
  if (!isUuid(id)) throw problem('NOT_FOUND')
  const { name, subject, body_text, body_html } = change
  parseHtml(body_html ?? '')
  return requireRow(await db.query<TemplateView>(updateTemplate(workspace.id, id, name, subject, body_text, body_html, now())))
}

/** Deletes a template; queued messages keep their text. Throws NOT_FOUND. */
export async function removeTemplate({ db, workspace }: Scope, id: string): Promise<void> {
  requireRow(isUuid(id) ? await db.query(deleteTemplate(workspace.id, id)) : [])
}
