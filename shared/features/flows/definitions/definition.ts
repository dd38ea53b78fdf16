import type { FlowNode } from '#shared/core/automation/node.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

const nodeId = t.String({
  pattern: '^[A-Za-z0-9_-]{1,64}$',
  description: '1 to 64 letters, digits, hyphens or underscores',
})

const position = t.Object({ x: t.Number(), y: t.Number() }, { description: 'Where an editor draws it.' })

/** A block of a flow; what its `config` may hold is told by `GET …/flows/blocks`. */
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
    source_handle: t.Optional(t.String({ description: 'The output of the source that it leaves from; left out, its first.' })),
    target: t.String(),
  },
  { title: 'FlowEdge' },
)

/** The parts of a definition, as they are sent. */
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

/** A block and an edge as they are kept and answered. */
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

/** What a flow does: the part of it that its last editor answers for. */
export interface FlowDefinition {
  readonly nodes: readonly FlowNode[]
  readonly edges: readonly FlowEdge[]
  readonly context: Readonly<Record<string, string>>
}

/** Where blocks are drawn, by their ids. */
export type Positions = Readonly<Record<string, { readonly x: number; readonly y: number }>>
