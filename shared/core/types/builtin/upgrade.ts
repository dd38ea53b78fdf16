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
  noteBuiltinVersion,
} from '#shared/core/types/builtin/store.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { Field, FieldRules } from '#shared/core/types/fields/field.ts'
import { allocateField, type FieldAllocation } from '#shared/core/types/fields/store.ts'
import { type RecordType, readRecordType } from '#shared/core/types/record-type.ts'
import { changeTable } from '#shared/core/types/tables/change-table.ts'
import { startEdition } from '#shared/core/types/tables/edition.ts'
import { addUniqueIndex } from '#shared/core/types/tables/store.ts'
import { lockType } from '#shared/core/types/types/store.ts'
import type { Executor, Tx } from '#shared/platform/db/database.ts'
import { uniqueViolation } from '#shared/platform/db/database-errors.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'

/** Workspaces that one statement finds. */
const batch = 100

const lowestId = '00000000-0000-0000-0000-000000000000'

/**
 * Brings what a release declares of built-in types to the workspaces that were set up before it, one after the other. One that cannot be
 * brought up now, as its tables are in use without a break, is logged and waits for the next time. Ends early when the signal aborts.
 */
export async function upgradeWorkspaces(
  { db, log }: { readonly db: Executor; readonly log: Logger },
  signal: AbortSignal,
  declared: BuiltinDeclaration = builtinDeclaration,
): Promise<void> {
  let after = lowestId
  for (let found = batch; found === batch; ) {
    const behind = await db.query<{ id: string }>(findWorkspacesBehind(declared.version, after, batch))
    for (const { id } of behind) {
      if (signal.aborted) return
      await upgradeWorkspace(db, id, declared).catch((error: unknown) =>
        log.warn({ err: error, workspace_id: id }, 'built-in types could not be brought to a workspace'),
      )
    }
    found = behind.length
    after = behind.at(-1)?.id ?? after
  }
}

/**
 * Brings the declared types and fields to one workspace, each type in a transaction of its own. Doing it again, also at the same time or
 * after it was stopped, adds nothing twice.
 */
export async function upgradeWorkspace(
  db: Executor,
  workspaceId: string,
  declared: BuiltinDeclaration = builtinDeclaration,
): Promise<void> {
  for (const type of declared.types) {
    await changeTable({ db, workspace: { id: workspaceId } }, (tx) => bringType(tx, workspaceId, type))
  }
  await db.query(noteBuiltinVersion(workspaceId, declared.version))
}

async function bringType(tx: Tx, workspaceId: string, declared: BuiltinType): Promise<void> {
  // Two who bring the same type to a workspace take turns; a type that is there is locked as whoever changes its fields locks it.
  await tx.query(lockUpgradedWorkspace(workspaceId))
  await tx.query(lockType(workspaceId, declared.key))
  const type = await readRecordType(tx, workspaceId, declared.key)
  if (!type) return createBuiltinType(tx, workspaceId, declared)
  if (!type.system) return
  // Records are written otherwise from now on where a field that they have becomes required or unique, or offers more.
  if (declared.fields.some((field) => isAdoptable(type.fieldByKey.get(field.key), field))) await startEdition(tx, type)
  for (const field of declared.fields) await bringField(tx, type, field)
}

async function bringField(tx: Tx, type: RecordType, declared: BuiltinField): Promise<void> {
  const own = type.fieldByKey.get(declared.key)
  if (isAdoptable(own, declared)) return adoptField(tx, type, own, declared)
  if (own) return
  // A formula that holds the key as a bare word would read the field from now on.
  if (type.computations.some(({ words }) => words.has(declared.key))) return
  const [place] = await tx.query<FieldAllocation>(allocateField(type.workspaceId, type.key, fieldKinds[declared.type].columns.length))
  if (!place) return
  await createBuiltinField(tx, { workspaceId: type.workspaceId, typeId: type.id, typeKey: type.key, number: place.number }, declared)
}

/** Makes a custom field the built-in one, unless two records hold a value that has to be unique: then the workspace keeps its own. */
async function adoptField(tx: Tx, type: RecordType, own: Field, declared: BuiltinField): Promise<void> {
  const unique = own.unique || declared.unique === true
  const adopted: Field = {
    ...own,
    required: own.required || declared.required === true,
    unique,
    autogen: own.autogen || (declared.autogen ?? ''),
    rules: rulesOfBoth(own.rules, declared.rules ?? {}),
  }
  try {
    await withSavepoint(tx, async () => {
      if (unique && !own.unique) await addUniqueIndex(tx, type.schema, type.key, own)
      await convertToBuiltinField(tx, type.workspaceId, adopted)
    })
  } catch (error) {
    if (uniqueViolation(error) === undefined) throw error
  }
}

const isAdoptable = (own: Field | undefined, declared: BuiltinField): own is Field =>
  own !== undefined &&
  !own.system &&
  own.type === declared.type &&
  own.rules.formula === undefined &&
  own.rules.ref_type === declared.rules?.ref_type

/** A field that is adopted keeps the workspace's rules beside those that it is declared with, and a choice offers the options of both. */
const rulesOfBoth = (own: FieldRules, declared: FieldRules): FieldRules => ({
  ...own,
  ...declared,
  ...(own.options && declared.options ? { options: [...new Set([...declared.options, ...own.options])] } : {}),
})
