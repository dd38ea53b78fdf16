import { withRecordType } from '#shared/core/records/access.ts'
import { countRecords } from '#shared/core/records/create/counts-store.ts'
import {
  checkRecentChanges,
  countViolationsAfter,
  type RestrictionCheck,
  readAuditPosition,
  requireNoViolations,
  requireNoViolationsSince,
} from '#shared/core/records/restriction-check.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { changeFieldDefinition } from '#shared/core/types/fields/change-definition.ts'
import { applyFieldChange, type FieldChange } from '#shared/core/types/fields/field-change.ts'
import { requireFieldAlwaysVisible } from '#shared/core/types/fields/field-visibility.ts'
import { requireCustomField } from '#shared/core/types/fields/require-field.ts'
import { findRestrictions, type Restriction } from '#shared/core/types/fields/restrictions.ts'
import { changeFieldJob } from '#shared/core/types/jobs.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { defineHandler } from '#workers/platform/jobs/handler.ts'

/** What a change asks of the records, as a picture of their type shows it. */
type Asked = <T>(work: (question: RestrictionCheck) => Promise<T>) => Promise<T>

type Advance = (progress: { done: number; total: number }) => Promise<void>

// Records are looked at while everybody writes on; what changed meanwhile is looked at again, the last of it while nobody can write.
export default defineHandler(changeFieldJob, async ({ payload: { fieldId, change }, scope, signal, advance, commit }) => {
  const { tightenings, ask } = await questionOf(scope, fieldId, change)
  let mark = ''
  if (tightenings.length > 0) {
    await ask(async ({ type, field }) => requireFieldAlwaysVisible(scope, type, field))
    mark = await ask(({ type }) => readAuditPosition(scope, type))
    await lookAtAll(scope, ask, signal, advance)
    mark = await ask((question) => checkRecentChanges(scope, question, mark))
  }
  return commit(async (inside) => ({
    result: await changeFieldDefinition(inside, fieldId, change, async (tx, { type, field }, needed) => {
      requireAsked(tightenings, needed)
      await requireNoViolationsSince(tx, { type, field, restrictions: needed }, mark)
    }),
  }))
})

async function questionOf(scope: Scope, fieldId: string, change: FieldChange) {
  const field = await requireCustomField(scope, fieldId)
  requirePermission(scope, 'fields:create', field.entityType)
  const tightenings = findRestrictions(field, applyFieldChange(field, change))
  const ask: Asked = (work) =>
    withRecordType(scope, field.entityType, (type) => {
      const present = type.fields.find(({ id }) => id === fieldId)
      if (!present) throw problem('NOT_FOUND')
      return work({ type, field: present, restrictions: tightenings })
    })
  return { tightenings, ask }
}

async function lookAtAll(scope: Scope, ask: Asked, signal: AbortSignal, advance: Advance): Promise<void> {
  const counts: number[] = []
  let total = await ask(({ type }) => countRecords(scope.db, scope.workspace.id, type.id))
  let done = 0
  for (let after: string | undefined = ''; after !== undefined; ) {
    signal.throwIfAborted()
    const from: string = after
    const { count, last } = await ask((question) => countViolationsAfter(scope.db, question, from, counts))
    after = last
    done += count
    total = Math.max(total, done)
    await advance({ done, total })
  }
  await ask(async (question) => requireNoViolations(question, counts))
}

/** Somebody changed the field meanwhile, and now the change asks for more than was looked at: it begins again. */
function requireAsked(asked: readonly Restriction[], needed: readonly Restriction[]): void {
  const wasAsked = ({ name, rule }: Restriction) => asked.some((other) => other.name === name && other.rule === rule)
  if (!needed.every(wasAsked)) throw problem('ORG_NOT_READY', 'The field was changed meanwhile')
}
