import { permits, requirePermission } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { addWarnings, findVisitorWarnings } from '#shared/core/scope/visitor-warnings.ts'
import { reservedFieldKeys } from '#shared/core/types/keys.ts'
import { findRecordType, unknownTypeProblem } from '#shared/core/types/record-type.ts'
import {
  type Form,
  type FormDefinition,
  type FormField,
  type FormInput,
  type FormSettings,
  maxFormOptions,
} from '#shared/features/forms/schemas.ts'
import { deleteForm, findForm, findFormByKey, findForms, insertForm, replaceForm } from '#shared/features/forms/store.ts'
import { requireFunction } from '#shared/features/functions/definitions/functions.ts'
import { type LinkedPage, type LinkedQuery, listByCreation } from '#shared/platform/db/lists.ts'
import { Problem, problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'

/** The forms that the caller may manage, oldest first. Throws VALIDATION_ERROR like `listByCreation`. */
export const listForms = (scope: Scope, query: LinkedQuery): Promise<LinkedPage<Form>> =>
  listByCreation<Form, Form>(scope, query, {
    find: (afterTime, afterId, limit) => findForms({ workspaceId: scope.workspace.id, afterTime, afterId, limit }),
    isVisible: ({ key }) => permits(scope, 'forms:manage', key),
    show: (rows) => rows,
  })

/** One form; throws NOT_FOUND. */
export async function getForm({ db, workspace }: Scope, id: string): Promise<Form> {
  return requireRow(isUuid(id) ? await db.query(findForm({ workspaceId: workspace.id, id })) : [])
}

/** Creates a form with the caller as its last editor. Throws VALIDATION_ERROR, FORBIDDEN and KEY_TAKEN. */
export async function createForm(scope: Scope, input: FormInput): Promise<Form> {
  const form = { ...(await readForm(scope, input)), workspaceId: scope.workspace.id, id: newId() }
  return withWarnings(scope, requireRow(await scope.db.query(insertForm(form))))
}

/** Replaces a form and makes the caller its last editor. Throws as `createForm` does, and NOT_FOUND. */
export async function changeForm(scope: Scope, id: string, input: FormInput): Promise<Form> {
  if (!isUuid(id)) throw problem('NOT_FOUND')
  const form = { ...(await readForm(scope, input)), workspaceId: scope.workspace.id, id }
  return withWarnings(scope, requireRow(await scope.db.query(replaceForm(form))))
}

/** Adds warnings to a saved form: why visitors cannot reach it although it is published. */
const withWarnings = async (scope: Scope, form: Form): Promise<Form> =>
  addWarnings(form, form.published ? await findVisitorWarnings(scope, ['forms:read', 'forms:submit'], form.key) : [])

/** Deletes a form with its submissions. Throws NOT_FOUND. */
export async function removeForm({ db, workspace }: Scope, id: string): Promise<void> {
  requireRow(isUuid(id) ? await db.query(deleteForm({ workspaceId: workspace.id, id })) : [])
}

/** A form by its key, cached until a form of the workspace changes. Throws NOT_FOUND unless published and permitted to the caller. */
export async function requireOpenForm(scope: Scope, key: string, permission: 'forms:read' | 'forms:submit'): Promise<Form> {
  const { cache, db, workspace } = scope
  const form = await cache.remember(db, workspace.id, `form ${key}`, async () => {
    const [row] = await db.query(findFormByKey({ workspaceId: workspace.id, key }))
    return row
  })
  if (!form?.published || !permits(scope, permission, key)) throw problem('NOT_FOUND')
  return form
}

/** The form as visitors see it, without its target and function (docs/contract/public.md#form-definition). */
export function definitionOf({ key, name, description, fields, settings }: Form): FormDefinition {
  const { submit_label, success_message } = settings
  return { key, name, description, fields, settings: { submit_label, success_message } }
}

/** The columns of a form, from checked input. */
async function readForm(scope: Scope, input: FormInput) {
  const { key, name, description = '', target = null, function_id = null, published = false } = input
  const fields = input.fields.map(readField)
  refuseRepeatedKeys(fields)
  refuseManyOptions(fields)
  const settings = readSettings(input.settings ?? {})
  if (target) await requireTarget(scope, target.object_type)
  if (function_id !== null) await requireInvocable(scope, function_id)
  return {
    key,
    name: name.trim(),
    description,
    fields: JSON.stringify(fields),
    settings: JSON.stringify(settings),
    objectType: target?.object_type,
    functionId: function_id,
    published,
    editedBy: scope.actor.id,
  }
}

function readField({ required = false, options, ...field }: FormInput['fields'][number], index: number): FormField {
  const path = `fields[${index}]`
  if (reservedFieldKeys.has(field.key)) throw problem('VALIDATION_ERROR', `${path}.key must not be ${field.key}, which is reserved`)
  const hasOptions = field.type === 'select' || field.type === 'multiselect'
  if (!hasOptions) return { ...field, label: field.label.trim(), required }
  if (!options) throw problem('VALIDATION_ERROR', `${path}.options is required for a ${field.type} field`)
  return { ...field, label: field.label.trim(), required, options }
}

function refuseRepeatedKeys(fields: readonly FormField[]): void {
  const known = new Set<string>()
  for (const [index, { key }] of fields.entries()) {
    if (known.has(key)) throw problem('VALIDATION_ERROR', `fields[${index}].key must be unique, got ${key} twice`)
    known.add(key)
  }
}

/** Limits the size of a form's page (docs/contract/public.md#form-fields). */
function refuseManyOptions(fields: readonly FormField[]): void {
  const count = fields.reduce((sum, { options = [] }) => sum + options.length, 0)
  if (count > maxFormOptions) {
    throw problem('VALIDATION_ERROR', `fields must have at most ${maxFormOptions} options in all, got ${count}`)
  }
}

function readSettings({ submit_label = '', success_message = '', redirect = '' }: NonNullable<FormInput['settings']>): FormSettings {
  if (redirect === '') return { submit_label, success_message, redirect }
  const url = URL.canParse(redirect) ? new URL(redirect) : undefined
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw problem('VALIDATION_ERROR', 'settings.redirect must be an absolute address that starts with https:// or http://')
  }
  return { submit_label, success_message, redirect: url.href }
}

async function requireTarget(scope: Scope, typeKey: string): Promise<void> {
  if (!(await findRecordType(scope, typeKey))) throw await unknownTypeProblem(scope, 'target.object_type', typeKey)
}

/** Requires that the caller may itself invoke the function. */
async function requireInvocable(scope: Scope, functionId: string): Promise<void> {
  const { id } = await requireFunction(scope, functionId).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'NOT_FOUND')
      throw problem('VALIDATION_ERROR', 'function_id must be the id of a function')
    throw error
  })
  requirePermission(scope, 'functions:invoke', id)
}
