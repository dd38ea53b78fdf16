import type { TestedType } from '#shared/core/automation/block.ts'
import type { FlowNode } from '#shared/core/automation/node.ts'
import { recordAccessFor } from '#shared/core/records/access.ts'
import { loadActor } from '#shared/core/scope/actor.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findRecordType } from '#shared/core/types/record-type.ts'
import { findTypeKeys } from '#shared/core/types/types/store.ts'
import { eventTrigger } from '#shared/features/flows/blocks/event-trigger.ts'

/** Settings that name fields of the block's record type. */
const testingSettings = ['filter', 'fields', 'sort']

/** Loads the record types whose fields the blocks test, with what the editor may not test; by key. An editor who has left may test all. */
export async function loadTestedTypes(
  scope: Scope,
  { nodes, editor_id }: { readonly nodes: readonly FlowNode[]; readonly editor_id: string | null },
): Promise<ReadonlyMap<string, TestedType>> {
  const { cache, db, workspace } = scope
  const keys = testsAnyType(nodes)
    ? (await db.query(findTypeKeys({ workspaceId: workspace.id }))).map(({ key }) => key)
    : testedTypeKeys(nodes)
  if (keys.length === 0) return new Map()
  const isCaller = editor_id === null || editor_id === scope.actor.id
  const editor = isCaller ? scope.actor : await loadActor(cache, db, workspace.id, editor_id)
  const tested = new Map<string, TestedType>()
  for (const key of keys) {
    const type = await findRecordType(scope, key)
    if (!type) continue
    const access = editor && recordAccessFor({ ...scope, actor: editor }, type, 'records:read')
    tested.set(key, { type, hideable: access?.hideable ?? new Set(), isReadable: access?.verdict !== 'none' })
  }
  return tested
}

/** Whether the trigger tests records of any type. */
const testsAnyType = (nodes: readonly FlowNode[]): boolean =>
  nodes.some(({ type, config: { filter } }) => type === eventTrigger.type && filter !== undefined && filter !== '')

/** Keys of the record types whose fields the blocks test. */
const testedTypeKeys = (nodes: readonly FlowNode[]): string[] => [
  ...new Set(
    nodes.flatMap(({ config }) =>
      typeof config.object_type === 'string' && testingSettings.some((name) => config[name] !== undefined) ? [config.object_type] : [],
    ),
  ),
]
