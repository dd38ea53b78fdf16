import type { Scope } from '#shared/core/scope/scope.ts'
import { addWarnings } from '#shared/core/scope/visitor-warnings.ts'
import { parseHtml } from '#shared/features/messages/templates/parse-html.ts'
import type { TemplateChange, TemplateInput, TemplateSummary, TemplateView } from '#shared/features/messages/templates/schemas.ts'
import {
  deleteTemplate,
  findTemplate,
  findTemplates,
  insertTemplate,
  type StoredTemplate,
  updateTemplate,
} from '#shared/features/messages/templates/store.ts'
import { type LinkedPage, type LinkedQuery, listByCreation } from '#shared/platform/db/lists.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'

/** Templates of the workspace without their bodies, oldest first. Throws VALIDATION_ERROR like `listByCreation`. */
export const listTemplates = (scope: Scope, query: LinkedQuery): Promise<LinkedPage<TemplateSummary>> =>
  listByCreation(scope, query, {
    find: (afterTime, afterId, limit) => findTemplates({ workspaceId: scope.workspace.id, afterTime, afterId, limit }),
    show: (rows) => rows,
  })

/** One template; throws NOT_FOUND. */
export const getTemplate = async (scope: Scope, id: string): Promise<TemplateView> => viewOf(await requireTemplate(scope, id))

/** A stored template; throws NOT_FOUND. */
export async function requireTemplate({ db, workspace }: Scope, id: string): Promise<StoredTemplate> {
  return requireRow(isUuid(id) ? await db.query(findTemplate({ workspaceId: workspace.id, id })) : [])
}

/** Creates a template. Throws VALIDATION_ERROR for HTML with a variable where none is allowed. */
export async function createTemplate({ db, workspace, now }: Scope, input: TemplateInput): Promise<TemplateView> {
  const { name, subject, body_text: bodyText = '', body_html: bodyHtml = '' } = input
  parseHtml(bodyHtml)
  const template = { id: newId(), name, subject, bodyText, bodyHtml }
  return viewOf(requireRow(await db.query(insertTemplate({ ...template, workspaceId: workspace.id, now: now() }))))
}

/**
 * Changes the sent properties of a template; queued messages keep their text. Throws NOT_FOUND, and VALIDATION_ERROR like `createTemplate`.
 */
export async function changeTemplate({ db, workspace, now }: Scope, id: string, change: TemplateChange): Promise<TemplateView> {
  if (!isUuid(id)) throw problem('NOT_FOUND')
  const { name, subject, body_text: bodyText, body_html: bodyHtml } = change
  parseHtml(bodyHtml ?? '')
  const changes = { name, subject, bodyText, bodyHtml }
  return viewOf(requireRow(await db.query(updateTemplate({ ...changes, workspaceId: workspace.id, id, now: now() }))))
}

/** Deletes a template; queued messages keep their text. Throws NOT_FOUND. */
export async function removeTemplate({ db, workspace }: Scope, id: string): Promise<void> {
  requireRow(isUuid(id) ? await db.query(deleteTemplate({ workspaceId: workspace.id, id })) : [])
}

/** A template with a warning for each variable that only a flow's own text could fill: a stored template sees `vars` alone. */
function viewOf({ flow_references, ...template }: StoredTemplate): TemplateView {
  const names = new Set(Object.values(flow_references).flat())
  const warnings = [...names].map(
    (name) => `{{${name}}} is not filled in by a flow: a template sees vars alone, so a sender must pass vars with the name ${name}`,
  )
  return addWarnings(template, warnings)
}
