import type { FlowNode } from '#shared/core/automation/node.ts'
import type { FlowDefinition, FlowEdge } from '#shared/features/flows/definitions/definition.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** A part of a flow that runs in one go: all that is in no loop, or what a loop repeats. */
export interface Section {
  /** The loop that repeats it; null for the flow itself. */
  readonly loop: string | null
  /** Its own blocks without the trigger, each behind all that lead to it. A loop inside is one of them; what that repeats is not. */
  readonly nodes: readonly FlowNode[]
  /** The loops around it, the outermost first, and its own last. */
  readonly path: readonly string[]
}

/** A definition whose graph is sound, ready to be run. */
export interface Graph {
  readonly trigger: FlowNode | undefined
  readonly nodeById: ReadonlyMap<string, FlowNode>
  /** By the id of the loop, the flow's own under the empty text. */
  readonly sections: ReadonlyMap<string, Section>
  /** The section that a block stands in. */
  readonly sectionOf: ReadonlyMap<string, Section>
  /** The blocks that an output leads to. */
  readonly targets: (nodeId: string, handle: string) => readonly string[]
}

/** What of a kind of block its graph depends on. */
export interface BlockShape {
  readonly isTrigger: boolean
  readonly handles: readonly string[]
  readonly isLoop: boolean
  /** Whether it makes a run wait for a time; what need not wait for it goes first. */
  readonly isWait: boolean
}

/** Makes the graph of a definition. Throws VALIDATION_ERROR that names the block or connection and what is wrong (document 2, Graph rules). */
export function buildGraph(
  { nodes, edges }: Pick<FlowDefinition, 'nodes' | 'edges'>,
  shapeOf: (type: string) => BlockShape | undefined,
): Graph {
  const nodeById = uniqueNodes(nodes)
  const shapes = new Map(nodes.map((node) => [node.id, knownShape(node, shapeOf)]))
  const trigger = onlyTrigger(nodes, shapes)
  const leaving = leavingOf(edges, nodeById, shapes)
  const order = inOrder(nodes, edges, shapes)
  const bodies = bodiesOf(order, edges, shapes, leaving)
  const sections = sectionsOf(order, bodies, shapes)
  const sectionOf = new Map([...sections.values()].flatMap((section) => section.nodes.map((node) => [node.id, section] as const)))
  return { trigger, nodeById, sections, sectionOf, targets: (nodeId, handle) => leaving.get(nodeId)?.get(handle) ?? [] }
}

type Shapes = ReadonlyMap<string, BlockShape>
/** Targets by block and handle. */
type Leaving = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>

const wrong = (message: string) => problem('VALIDATION_ERROR', message)

function uniqueNodes(nodes: readonly FlowNode[]): ReadonlyMap<string, FlowNode> {
  const byId = new Map<string, FlowNode>()
  for (const [index, node] of nodes.entries()) {
    if (byId.has(node.id)) throw wrong(`nodes[${index}].id ${node.id} is the id of another block, too`)
    byId.set(node.id, node)
  }
  return byId
}

function knownShape({ id, type }: FlowNode, shapeOf: (type: string) => BlockShape | undefined): BlockShape {
  const shape = shapeOf(type)
  if (!shape) throw wrong(`${id}: there is no block of the type ${type.slice(0, 100)}`)
  return shape
}

function onlyTrigger(nodes: readonly FlowNode[], shapes: Shapes): FlowNode | undefined {
  const triggers = nodes.filter(({ id }) => shapes.get(id)?.isTrigger)
  const [first, second] = triggers
  if (second) throw wrong(`${second.id} is a second trigger beside ${first?.id}: a flow has one`)
  if (!first && nodes.length > 0) throw wrong('a flow with blocks must have a trigger among them')
  return first
}

function leavingOf(edges: readonly FlowEdge[], nodeById: ReadonlyMap<string, FlowNode>, shapes: Shapes): Leaving {
  const leaving = new Map<string, Map<string, string[]>>()
  const ids = new Set<string>()
  for (const [index, { id, source, source_handle, target }] of edges.entries()) {
    if (ids.has(id)) throw wrong(`edges[${index}].id ${id} is the id of another connection, too`)
    ids.add(id)
    if (!nodeById.has(source)) throw wrong(`edges[${index}].source ${source.slice(0, 100)} is no block of the flow`)
    if (!nodeById.has(target)) throw wrong(`edges[${index}].target ${target.slice(0, 100)} is no block of the flow`)
    if (shapes.get(target)?.isTrigger) throw wrong(`edges[${index}].target ${target} is the trigger, to which nothing leads`)
    const handles = shapes.get(source)?.handles ?? []
    if (!handles.includes(source_handle)) {
      throw wrong(`edges[${index}].source_handle ${source_handle.slice(0, 100)} is no output of ${source}, which has ${handles.join(', ')}`)
    }
    const ofSource = leaving.get(source) ?? new Map<string, string[]>()
    leaving.set(source, ofSource)
    const ofHandle = ofSource.get(source_handle) ?? []
    ofSource.set(source_handle, ofHandle)
    if (!ofHandle.includes(target)) ofHandle.push(target)
  }
  return leaving
}

/** The blocks, each behind all that lead to it, and otherwise as they were sent; what waits for a time stands as far back as it can. */
function inOrder(nodes: readonly FlowNode[], edges: readonly FlowEdge[], shapes: Shapes): readonly FlowNode[] {
  const open = new Map(nodes.map(({ id }) => [id, 0]))
  const targets = new Map<string, string[]>(nodes.map(({ id }) => [id, []]))
  for (const { source, target } of edges) {
    open.set(target, (open.get(target) ?? 0) + 1)
    targets.get(source)?.push(target)
  }
  const place = new Map(nodes.map(({ id }, index) => [id, index]))
  const isLate = (id: string) => shapes.get(id)?.isWait ?? false
  const before = (one: string, other: string) =>
    Number(isLate(one)) - Number(isLate(other)) || (place.get(one) ?? 0) - (place.get(other) ?? 0)
  const ready = nodes.flatMap(({ id }) => (open.get(id) === 0 ? [id] : []))
  const ordered: FlowNode[] = []
  while (ready.length > 0) {
    ready.sort(before)
    const id = ready.shift() as string
    ordered.push(nodes[place.get(id) as number] as FlowNode)
    for (const target of targets.get(id) ?? []) {
      const left = (open.get(target) ?? 0) - 1
      open.set(target, left)
      if (left === 0) ready.push(target)
    }
  }
  if (ordered.length < nodes.length) {
    const inLoop = nodes.find(({ id }) => (open.get(id) ?? 0) > 0)
    throw wrong(`${inLoop?.id} leads back to itself: a flow has no loops but those of logic.for_each`)
  }
  return ordered
}

/** What each loop repeats: all that its `loop` leads to. Throws when that cannot be told from what comes after it. */
function bodiesOf(
  order: readonly FlowNode[],
  edges: readonly FlowEdge[],
  shapes: Shapes,
  leaving: Leaving,
): ReadonlyMap<string, ReadonlySet<string>> {
  const bodies = new Map<string, ReadonlySet<string>>()
  for (const { id } of order) {
    if (!shapes.get(id)?.isLoop) continue
    const body = reach(leaving, leaving.get(id)?.get('loop') ?? [])
    const after = reach(leaving, leaving.get(id)?.get('done') ?? [])
    const both = [...body].find((inside) => after.has(inside))
    if (both !== undefined)
      throw wrong(`${both} is led to from inside the loop ${id} and from its done: it would run both in it and after it`)
    const entering = edges.find(({ source, target }) => body.has(target) && !body.has(source) && source !== id)
    if (entering) throw wrong(`${entering.target} is inside the loop ${id} and led to from ${entering.source}, which is outside of it`)
    bodies.set(id, body)
  }
  return bodies
}

function reach(leaving: Leaving, from: readonly string[]): Set<string> {
  const reached = new Set<string>()
  const open = [...from]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (reached.has(id)) continue
    reached.add(id)
    for (const targets of leaving.get(id)?.values() ?? []) open.push(...targets)
  }
  return reached
}

function sectionsOf(
  order: readonly FlowNode[],
  bodies: ReadonlyMap<string, ReadonlySet<string>>,
  shapes: Shapes,
): ReadonlyMap<string, Section> {
  // A loop inside another comes behind it in the order, so the last one that holds a block is the innermost.
  const loopsAround = (id: string) => [...bodies].flatMap(([loop, body]) => (body.has(id) ? [loop] : []))
  const ofSection = Map.groupBy(
    order.filter(({ id }) => !shapes.get(id)?.isTrigger),
    ({ id }) => loopsAround(id).at(-1) ?? '',
  )
  const made = (loop: string | null, path: readonly string[]): Section => ({ loop, nodes: ofSection.get(loop ?? '') ?? [], path })
  return new Map([['', made(null, [])], ...[...bodies.keys()].map((loop) => [loop, made(loop, [...loopsAround(loop), loop])] as const)])
}
