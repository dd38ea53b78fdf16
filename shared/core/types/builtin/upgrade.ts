import {
  type BuiltinDeclaration,
  type BuiltinField,
  type BuiltinType,
  builtinDeclaration,
} from '#shared/core/types/builtin/builtin-types.ts'
import {
  convertToBuiltinField,
  createBuiltinField,
  createBuiltinType,
  findWorkspacesBehind,
  lockUpgradedWorkspace,
  setBuiltinVersion,
} from '#shared/core/types/builtin/store.ts'
import { announceTypeChange, type TypeChanged } from '#shared/core/types/events.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { Field, FieldRules } from '#shared/core/types/fields/field.ts'
import { allocateField } from '#shared/core/types/fields/store.ts'
import { type RecordType, readRecordType } from '#shared/core/types/record-type.ts'
import { changeTable, startEdition } from '#shared/core/types/tables/change-table.ts'
import { addUniqueIndex } from '#shared/core/types/tables/store.ts'
import { lockType } from '#shared/core/types/types/store.ts'
import type { Executor, Tx } from '#shared/platform/db/database.ts'
import { uniqueViolation } from '#shared/platform/db/database-errors.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { platformCause } from '#shared/platform/kernel/cause.ts'
import { lowestId, newId } from '#shared/platform/kernel/ids.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { countRefusal } from '#shared/platform/kernel/process/part.ts'

interface UpgradeServices {
  readonly db: Executor
  readonly jobQueue: JobQueue
}

/** Workspaces per statement. */
const batchSize = 100

/**
 * Upgrades the workspaces behind the release's declaration of built-in types, one after the other. A workspace whose upgrade fails, such as
 * one whose tables are in constant use, is logged and retried on the next run. Returns early when the signal aborts.
 */
export async function upgradeWorkspaces(
  { log, ...services }: UpgradeServices & { readonly log: Logger },
  signal: AbortSignal,
  declared: BuiltinDeclaration = builtinDeclaration,
): Promise<void> {
  let after = lowestId
  for (let found = batchSize; found === batchSize; ) {
    const behind = await services.db.query(findWorkspacesBehind({ version: declared.version, afterId: after, limit: batchSize }))
    for (const { id } of behind) {
      if (signal.aborted) return
      await upgradeWorkspace(services, id, declared).catch((error: unknown) => {
        if (!countRefusal(error)) log.warn({ err: error, workspace_id: id }, 'built-in types could not be brought to a workspace')
      })
    }
    found = behind.length
    after = behind.at(-1)?.id ?? after
  }
}

/**
 * Adds the declared types and fields to one workspace, each type in its own transaction. Idempotent, also under concurrent calls and
 * after an interruption.
 */
export async function upgradeWorkspace(
  { db, jobQueue }: UpgradeServices,
  workspaceId: string,
  declared: BuiltinDeclaration = builtinDeclaration,
): Promise<void> {
  const scope = { db, jobQueue, workspace: { id: workspaceId }, cause: platformCause(newId()) }
  for (const type of declared.types) {
    await changeTable(scope, async (tx) => {
      const changed = await upgradeType(tx, workspaceId, type)
      if (changed) await announceTypeChange({ ...scope, db: tx }, changed)
    })
  }
  await db.query(setBuiltinVersion({ workspaceId, version: declared.version }))
}

/** Brings one type to its declaration; undefined when nothing changed. */
async function upgradeType(tx: Tx, workspaceId: string, declared: BuiltinType): Promise<TypeChanged | undefined> {
  // The workspace lock serializes concurrent upgrades. An existing type takes the same lock that field changes take.
  await tx.query(lockUpgradedWorkspace({ workspaceId }))
  await tx.query(lockType({ workspaceId, key: declared.key }))
  const type = await readRecordType(tx, workspaceId, declared.key)
  const { key } = declared
  if (!type) return { id: await createBuiltinType(tx, workspaceId, declared), key, change: 'created' }
  if (!type.system) return undefined
  // Adopting a field can make it required or unique or add options: writes must use the new definition.
  if (declared.fields.some((field) => isAdoptable(type.fieldByKey.get(field.key), field))) await startEdition(tx, type)
  const fields: string[] = []
  for (const field of declared.fields) if (await upgradeField(tx, type, field)) fields.push(field.key)
  return fields.length > 0 ? { id: type.id, key, change: 'updated', fields } : undefined
}

/** Returns whether the field was added or adopted. */
async function upgradeField(tx: Tx, type: RecordType, declared: BuiltinField): Promise<boolean> {
  const own = type.fieldByKey.get(declared.key)
  if (isAdoptable(own, declared)) return adoptField(tx, type, own, declared)
  if (own) return false
  // A formula that contains the key as a bare word would start to read the field, so the field is not added.
  if (type.computations.some(({ words }) => words.has(declared.key))) return false
  const { workspaceId } = type
  const columns = fieldKinds[declared.type].columns.length
  const [allocation] = await tx.query(allocateField({ workspaceId, typeKey: type.key, columns }))
  if (!allocation) return false
  await createBuiltinField(tx, { workspaceId, typeId: type.id, typeKey: type.key, number: allocation.number }, declared)
  return true
}

/** Converts a custom field to the built-in one and returns whether it did. When a field that must be unique has duplicate values, the workspace keeps its own. */
async function adoptField(tx: Tx, type: RecordType, own: Field, declared: BuiltinField): Promise<boolean> {
  const unique = own.unique || declared.unique === true
  const adopted: Field = {
    ...own,
    required: own.required || declared.required === true,
    unique,
    autogen: own.autogen || (declared.autogen ?? ''),
    rules: mergeRules(own.rules, declared.rules ?? {}),
  }
  try {
    await withSavepoint(tx, async () => {
      if (unique && !own.unique) await addUniqueIndex(tx, type.schema, type.key, own)
      await convertToBuiltinField(tx, type.workspaceId, adopted)
    })
    return true
  } catch (error) {
    if (uniqueViolation(error) === undefined) throw error
    return false
  }
}

const isAdoptable = (own: Field | undefined, declared: BuiltinField): own is Field =>
  own !== undefined &&
  !own.system &&
  own.type === declared.type &&
  own.rules.formula === undefined &&
  own.rules.ref_type === declared.rules?.ref_type

/** Merges the workspace's rules with the declared ones, which take precedence; a choice field gets the options of both. */
const mergeRules = (own: FieldRules, declared: FieldRules): FieldRules => ({
  ...own,
  ...declared,
  ...(own.options && declared.options ? { options: [...new Set([...declared.options, ...own.options])] } : {}),
})
