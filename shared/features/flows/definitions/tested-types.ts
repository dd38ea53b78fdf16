import type { TestedType } from '#shared/core/automation/block.ts'
import type { FlowNode } from '#shared/core/automation/node.ts'
import { recordAccessFor } from '#shared/core/records/access.ts'
import { loadActor } from '#shared/core/scope/actor.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findRecordType } from '#shared/core/types/record-type.ts'

/** Settings that name fields of the block's record type. */
const testingSettings = ['filter', 'fields', 'sort']

/** Loads the record types whose fields the blocks test, with what the editor may not test; by key. An editor who has left may test all. */
export async function loadTestedTypes(
  scope: Scope,
  { nodes, editor_id }: { readonly nodes: readonly FlowNode[]; readonly editor_id: string | null },
): Promise<ReadonlyMap<string, TestedType>> {
  const keys = testedTypeKeys(nodes)
  if (keys.length === 0) return new Map()
  const { cache, db, workspace } = scope
  const isCaller = editor_id === null || editor_id === scope.actor.id
  const editor = isCaller ? scope.actor : await loadActor(cache, db, workspace.id, editor_id)
  const tested = new Map<string, TestedType>()
  for (const key of keys) {
    const type = await findRecordType(scope, key)
    if (type)
      tested.set(key, { type, hideable: editor ? recordAccessFor({ ...scope, actor: editor }, type, 'records:read').hideable : new Set() })
  }
  return tested
}

/** Keys of the record types whose fields the blocks test. */
const testedTypeKeys = (nodes: readonly FlowNode[]): string[] => [
  ...new Set(
    nodes.flatMap(({ config }) =>
      typeof config.object_type === 'string' && testingSettings.some((name) => config[name] !== undefined) ? [config.object_type] : [],
    ),
  ),
]
