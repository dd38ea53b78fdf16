/** A graph as the reference sees it. */
export interface Drawing {
  readonly nodes: readonly { readonly id: string; readonly type: string; readonly config: Readonly<Record<string, unknown>> }[]
  readonly edges: readonly { readonly source: string; readonly source_handle: string; readonly target: string }[]
}

/** The outcome of a block in the reference: the handle of its output, or the number of repetitions. */
export type Choice = (id: string) => { readonly handle: string } | { readonly times: number }

/**
 * A small interpreter of flows, written from their rules alone: a block runs once all connections to it are settled, if one was taken; else it
 * is skipped, and what it leads to with it. What a loop's `loop` leads to is run for each item. Gives the steps in an order that is right.
 */
export function reference({ nodes, edges }: Drawing, choose: Choice): string[] {
  const trigger = nodes.find(({ type }) => type.startsWith('trigger.'))?.id ?? ''
  const leaving = (id: string, handle: string) => edges.filter((edge) => edge.source === id && edge.source_handle === handle)
  const body = (loop: string): Set<string> => {
    const reached = new Set<string>()
    const open = leaving(loop, 'loop').map(({ target }) => target)
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (reached.has(id)) continue
      reached.add(id)
      open.push(...edges.filter(({ source }) => source === id).map(({ target }) => target))
    }
    return reached
  }
  const inner = new Map(nodes.filter(({ type }) => type === 'logic.for_each').map(({ id }) => [id, body(id)]))
  const steps: string[] = []

  /** Runs the blocks of `inside` that no loop in it repeats, with these taken at the start. */
  const run = (inside: ReadonlySet<string>, start: readonly string[], path: string): void => {
    const own = [...inside].filter((id) => ![...inner].some(([loop, ids]) => inside.has(loop) && ids.has(id)))
    const settled = new Set<string>()
    const taken = new Set(start)
    while (settled.size < own.length) {
      const id = own.find(
        (one) => !settled.has(one) && edges.every(({ source, target }) => target !== one || !own.includes(source) || settled.has(source)),
      )
      if (id === undefined) throw new Error('The reference is stuck')
      settled.add(id)
      if (!taken.has(id)) continue
      steps.push(`${id}@${path}`)
      const choice = choose(id)
      if ('times' in choice) {
        const repeated = inner.get(id) ?? new Set()
        const first = leaving(id, 'loop').map(({ target }) => target)
        for (let index = 0; index < choice.times; index++) run(repeated, first, path === '' ? String(index) : `${path}.${index}`)
      }
      for (const { target } of leaving(id, 'handle' in choice ? choice.handle : 'done')) taken.add(target)
    }
  }
  const all = new Set(nodes.map(({ id }) => id).filter((id) => id !== trigger))
  run(
    all,
    leaving(trigger, 'out').map(({ target }) => target),
    '',
  )
  return steps
}
