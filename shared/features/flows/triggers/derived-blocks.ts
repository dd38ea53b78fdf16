import { pathsIn } from '#shared/core/automation/template.ts'
import type { Graph } from '#shared/features/flows/definitions/graph.ts'

/** Trigger parts with restricted access, by their names in references. */
const restrictedParts: ReadonlySet<string | undefined> = new Set(['record', 'record_id', 'calendar_event', 'input', undefined])

/** Ids of blocks whose outputs derive from the trigger: by a reference, through other blocks, or as items of a loop. */
export function blocksDerivedFromTrigger({ nodeById, sectionOf }: Pick<Graph, 'nodeById' | 'sectionOf'>): ReadonlySet<string> {
  const derived = new Set<string>()
  const derives = (id: string, config: unknown): boolean => {
    if (sectionOf.get(id)?.path.some((loop) => derived.has(loop))) return true
    for (const [root, part] of pathsIn(config)) {
      if (root === 'trigger' ? restrictedParts.has(part) : root === 'steps' && derived.has(part ?? '')) return true
    }
    return false
  }
  for (let size = -1; size < derived.size; ) {
    size = derived.size
    for (const { id, config } of nodeById.values()) if (!derived.has(id) && derives(id, config)) derived.add(id)
  }
  return derived
}
