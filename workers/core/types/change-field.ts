import {
  checkRecentChanges,
  countViolationsAfter,
  type RestrictionCheck,
  readAuditPosition,
  requireNoViolations,
  requireNoViolationsSince,
} from '#shared/core/records/change/restriction-check.ts'
import { countRecords } from '#shared/core/records/create/counts-store.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { changeFieldDefinition } from '#shared/core/types/fields/change-definition.ts'
import { applyFieldChange } from '#shared/core/types/fields/field-change.ts'
import { requireFieldAlwaysVisible } from '#shared/core/types/fields/field-visibility.ts'
import { requireCustomField } from '#shared/core/types/fields/require-field.ts'
import { findRestrictions, type Restriction } from '#shared/core/types/fields/restrictions.ts'
import type { FieldChange } from '#shared/core/types/fields/schemas.ts'
import { changeFieldJob } from '#shared/core/types/jobs.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'

/** Calls a function with the restrictions of a change, and with the type and the field as they are now. */
type RunWithCheck = <T>(work: (check: RestrictionCheck) => Promise<T>) => Promise<T>

type Advance = (progress: { done: number; total: number }) => Promise<void>

// Records are checked while writes continue. Records changed meanwhile are checked again, the last of them while writes are blocked.
export default defineHandler(changeFieldJob, async ({ payload: { fieldId, change }, scope, signal, advance, commit }) => {
  const { restrictions, runWithCheck } = await prepareCheck(scope, fieldId, change)
  let auditPosition = ''
  if (restrictions.length > 0) {
    await runWithCheck(async ({ type, field }) => requireFieldAlwaysVisible(scope, type, field))
    auditPosition = await runWithCheck(({ type }) => readAuditPosition(scope, type))
    await checkAllRecords(scope, runWithCheck, signal, advance)
    auditPosition = await runWithCheck((check) => checkRecentChanges(scope, check, auditPosition))
  }
  return commit(async (inside) => ({
    result: await changeFieldDefinition(inside, fieldId, change, async (tx, { type, field }, needed) => {
      requireChecked(restrictions, needed)
      await requireNoViolationsSince(tx, { type, field, restrictions: needed }, auditPosition)
    }),
  }))
})

async function prepareCheck(scope: Scope, fieldId: string, change: FieldChange) {
  const field = await requireCustomField(scope, fieldId)
  requirePermission(scope, 'fields:create', field.entityType)
  const restrictions = findRestrictions(field, applyFieldChange(field, change))
  const runWithCheck: RunWithCheck = async (work) => {
    const type = await requireRecordType(scope, field.entityType)
    const currentField = type.fields.find(({ id }) => id === fieldId)
    if (!currentField) throw problem('NOT_FOUND')
    return work({ type, field: currentField, restrictions })
  }
  return { restrictions, runWithCheck }
}

async function checkAllRecords(scope: Scope, runWithCheck: RunWithCheck, signal: AbortSignal, advance: Advance): Promise<void> {
  const counts: number[] = []
  let total = await runWithCheck(({ type }) => countRecords(scope.db, scope.workspace.id, type.id))
  let done = 0
  for (let after: string | undefined = ''; after !== undefined; ) {
    signal.throwIfAborted()
    const from: string = after
    const { count, last } = await runWithCheck((check) => countViolationsAfter(scope.db, check, from, counts))
    after = last
    done += count
    total = Math.max(total, done)
    await advance({ done, total })
  }
  await runWithCheck(async (check) => requireNoViolations(check, counts))
}

/** Throws ORG_NOT_READY, so that the job is retried, when a concurrent change of the field led to restrictions that were not checked. */
function requireChecked(checked: readonly Restriction[], needed: readonly Restriction[]): void {
  const wasChecked = ({ name, rule }: Restriction) => checked.some((other) => other.name === name && other.rule === rule)
  if (!needed.every(wasChecked)) throw problem('ORG_NOT_READY', 'The field was changed meanwhile')
}
