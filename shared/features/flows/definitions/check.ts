import type { KnownReferences } from '#shared/core/automation/block.ts'
import type { FlowNode } from '#shared/core/automation/node.ts'
import { refuseUnknownRoots } from '#shared/core/automation/template.ts'
import { blockKindOf, blockKinds, blockShapeOf } from '#shared/features/flows/blocks.ts'
import type { FlowDefinition, FlowEdge, Positions } from '#shared/features/flows/definitions/definition.ts'
import { buildGraph, type Graph } from '#shared/features/flows/definitions/graph.ts'
import type { FlowDefinitionInput, FlowProblem } from '#shared/features/flows/definitions/schemas.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { readKnownKeys } from '#shared/platform/kernel/known-keys.ts'
import { findNearestName, isSimilarName } from '#shared/platform/kernel/similar-names.ts'

/**
 * Reads a definition and the positions of its blocks from input. With `stored`, the saved blocks, unknown settings are refused, too
 * (`refuseUnknownSettings`). Throws VALIDATION_ERROR for an invalid draft, and above 256 KB.
 */
export function readDefinition(
  sent: FlowDefinitionInput,
  stored?: readonly FlowNode[],
): { definition: FlowDefinition; positions: Positions } {
  const { nodes = [], context = {} } = sent
  const edges = readEdges(sent.edges ?? [], nodes)
  requireSmallDefinition({ nodes, edges, context })
  if (stored) refuseUnknownSettings(sent, stored)
  const read = nodes.map(({ id, type, config }): FlowNode => ({ id, type, config: readConfig(id, type, config ?? {}) }))
  const definition = { nodes: read, edges, context }
  buildGraph(definition, blockShapeOf)
  return { definition, positions: Object.fromEntries(nodes.map(({ id, position = { x: 0, y: 0 } }) => [id, position])) }
}

/**
 * Throws VALIDATION_ERROR above 256 KB. Blocks count without positions and empty settings, edges with their defaults. Settings are measured
 * before anything else reads them: 195 blocks of 100 clauses take half a second to check.
 */
function requireSmallDefinition({ nodes, edges, context }: Required<FlowDefinitionInput>): void {
  const blocks = nodes.map(({ id, type, config = {} }) => ({ id, type, config: withoutNulls(config) }))
  const bytes = [blocks, edges, context].reduce((sum, part) => sum + Buffer.byteLength(JSON.stringify(part)), 0)
  if (bytes > flowLimits.definitionBytes) throw problem('VALIDATION_ERROR', 'nodes, edges and context must have at most 256 KB together')
}

/** Settings that are sent: null counts as not sent. */
const withoutNulls = (settings: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null))

/**
 * Throws VALIDATION_ERROR for an unknown setting, also inside of settings whose keys are fixed. Settings that the stored block with the
 * same id has are accepted, even if only an earlier release knew them.
 */
export function refuseUnknownSettings(sent: FlowDefinitionInput, stored: readonly FlowNode[]): void {
  for (const [index, { id, type, config }] of (sent.nodes ?? []).entries()) {
    const kind = blockKindOf(type)
    if (!kind) throw unknownType(id, type)
    const before = stored.find((node) => node.id === id)
    const body = { ...kind.settings.json, title: `${kind.type} block` }
    readKnownKeys(config ?? {}, { body, answer: undefined, stored: before?.config, allowsStoredKeys: true }, `nodes[${index}].config`)
  }
}

function unknownType(id: string, type: string) {
  const known = blockKinds.map(({ type }) => type)
  const nearest = findNearestName(type, known)
  const advice = nearest !== undefined && isSimilarName(type, nearest) ? `; did you mean ${nearest}?` : ';'
  return problem('VALIDATION_ERROR', `${id}: there is no block of the type ${type.slice(0, 100)}${advice} GET …/flows/blocks lists them`)
}

/** Reads the settings of a block; a setting that is null counts as not sent. Throws VALIDATION_ERROR for a setting of a wrong type. */
function readConfig(id: string, type: string, sent: Readonly<Record<string, unknown>>): FlowNode['config'] {
  const kind = blockKindOf(type)
  if (!kind) throw unknownType(id, type)
  const config: FlowNode['config'] = kind.settings.parse(withoutNulls(sent), `${id}: config`)
  refuseUnknownRoots(id, config)
  return config
}

/** Edges with defaults: `edge_<n>` as the id, the first output of the source as the handle. */
function readEdges(edges: NonNullable<FlowDefinitionInput['edges']>, nodes: NonNullable<FlowDefinitionInput['nodes']>): FlowEdge[] {
  const typeById = new Map(nodes.map(({ id, type }) => [id, type]))
  return edges.map(({ id, source, source_handle, target }, index) => {
    const [first = 'out'] = blockKindOf(typeById.get(source) ?? '')?.handles ?? []
    return { id: id || `edge_${index + 1}`, source, source_handle: source_handle ?? first, target }
  })
}

/** Builds the graph of a saved definition. */
export const graphOfSavedDefinition = (definition: FlowDefinition): Graph => buildGraph(definition, blockShapeOf)

/** Problems that keep a definition from being enabled, in order of its blocks; empty when it is complete. */
export function findFlowProblems({ nodes }: Pick<FlowDefinition, 'nodes'>, known: KnownReferences): FlowProblem[] {
  if (nodes.length === 0) return [{ node_id: null, message: 'the flow has no blocks' }]
  return nodes.flatMap(({ id, type, config }) => {
    const kind = blockKindOf(type)
    if (!kind) return [{ node_id: id, message: `there is no block of the type ${type}` }]
    const missing = kind.required.filter((name) => isBlank(config[name])).map((name) => `${name} is required`)
    const filled = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== ''))
    const wrong = kind.problems?.(filled, known) ?? []
    return [...missing, ...wrong].map((message) => ({ node_id: id, message }))
  })
}

const isBlank = (value: unknown): boolean => value === undefined || (typeof value === 'string' && value.trim() === '')
