import { formulaProblem } from '#shared/platform/formula/problems.ts'

/** The fields that each computed field's formula reads (`CompiledFormula.dependencies`), by the computed field's key. */
type Dependencies = ReadonlyMap<string, readonly string[]>

/** One computed field on the search path. `next` is the index of the first key in `reads` that is not visited yet. */
interface Step {
  readonly key: string
  readonly reads: readonly string[]
  next: number
}

/**
 * Orders the computed fields of a type so that each comes after the fields it reads; otherwise they keep the given order. Throws
 * VALIDATION_ERROR for a cycle, which it names: `formula: circle a → b → a`.
 */
export function evaluationOrder(dependencies: Dependencies): readonly string[] {
  const ordered = new Set<string>()
  for (const key of dependencies.keys()) visit(key, dependencies, ordered)
  return [...ordered]
}

/** Adds a key after everything it reads. Uses a list instead of recursion, so that a long chain cannot exhaust the stack. */
function visit(start: string, dependencies: Dependencies, ordered: Set<string>): void {
  const path: Step[] = [stepFor(start, dependencies)]
  const onPath = new Set([start])
  for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
    const key = step.reads[step.next]
    step.next += 1
    if (key === undefined) {
      ordered.add(step.key)
      onPath.delete(step.key)
      path.pop()
    } else if (onPath.has(key)) {
      throw cycleProblem([...path.map((visited) => visited.key), key])
    } else if (dependencies.has(key) && !ordered.has(key)) {
      path.push(stepFor(key, dependencies))
      onPath.add(key)
    }
  }
}

const stepFor = (key: string, dependencies: Dependencies): Step => ({ key, reads: dependencies.get(key) ?? [], next: 0 })

const cycleProblem = (keys: readonly string[]): Error => formulaProblem(`circle ${keys.slice(keys.indexOf(keys.at(-1)!)).join(' → ')}`)
