import type { FlowNode } from '#shared/core/automation/node.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

const nodeId = t.String({
  pattern: '^[A-Za-z0-9_-]{1,64}$',
  description: '1 to 64 letters, digits, hyphens or underscores',
})

const position = t.Object({ x: t.Number(), y: t.Number() }, { description: 'Where an editor draws it.' })

/** A block of a flow; `GET …/flows/blocks` describes its `config`. */
const node = t.Object(
  {
    id: nodeId,
    type: t.String({ description: 'Such as logic.condition; see GET /orgs/{orgId}/flows/blocks.' }),
    config: t.Optional(
      t.Record(t.String(), t.Unknown(), { description: 'Settings of the block. Texts may hold references in double braces.' }),
    ),
    position: t.Optional(position),
  },
  { title: 'FlowNode' },
)

const edge = t.Object(
  {
    id: t.Optional(t.String({ maxLength: 128 })),
    source: t.String(),
    source_handle: t.Optional(t.String({ description: 'Output of the source; its first when absent.' })),
    target: t.String(),
  },
  { title: 'FlowEdge' },
)

/** Parts of a definition as input. */
export const definitionParts = {
  nodes: t.Optional(t.Array(node, { maxItems: flowLimits.nodes })),
  edges: t.Optional(t.Array(edge, { maxItems: flowLimits.edges })),
  context: t.Optional(
    t.Record(t.String(), t.String(), {
      maxProperties: flowLimits.contextVariables,
      description: 'Variables that blocks refer to: {{context.name}}.',
    }),
  ),
}

const definitionInput = schema(t.Object(definitionParts))
export type FlowDefinitionInput = TypeOf<typeof definitionInput>

/** A block and an edge in responses. */
export const nodeView = t.Object(
  { id: t.String(), type: t.String(), config: t.Record(t.String(), t.Unknown()), position },
  { title: 'FlowBlock', description: 'A block of a flow.' },
)
export const edgeView = t.Object(
  { id: t.String(), source: t.String(), source_handle: t.String(), target: t.String() },
  { title: 'FlowConnection', description: 'Leads from an output of a block to another block.' },
)

export interface FlowEdge {
  readonly id: string
  readonly source: string
  readonly source_handle: string
  readonly target: string
}

/** Blocks, edges and variables of a flow. It runs with the rights of the editor who last changed them. */
export interface FlowDefinition {
  readonly nodes: readonly FlowNode[]
  readonly edges: readonly FlowEdge[]
  readonly context: Readonly<Record<string, string>>
}

/** Positions in the editor by block id. */
export type Positions = Readonly<Record<string, { readonly x: number; readonly y: number }>>
