import { triggerKinds } from '#shared/core/automation/block.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import { nameSchema } from '#shared/platform/kernel/name.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

const nodeId = t.String({
  pattern: '^[A-Za-z0-9_-]{1,64}$',
  description: '1 to 64 letters, digits, hyphens or underscores',
})

const position = t.Object({ x: t.Number(), y: t.Number() }, { description: 'Where a graphical editor draws the block.' })

/** A block of a flow; `GET …/flows/blocks` describes its `config`. */
const node = t.Object(
  {
    id: nodeId,
    type: t.String({ description: 'Type of the block, such as logic.condition; see GET /orgs/{orgId}/flows/blocks.' }),
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
    source_handle: t.Optional(t.String({ description: 'Output of the source block; default: the first one.' })),
    target: t.String(),
  },
  { title: 'FlowEdge' },
)

/** The properties of a definition in requests. */
export const definitionParts = {
  nodes: t.Optional(t.Array(node, { maxItems: flowLimits.nodes })),
  edges: t.Optional(t.Array(edge, { maxItems: flowLimits.edges })),
  context: t.Optional(
    t.Record(t.String(), t.String(), {
      maxProperties: flowLimits.contextVariables,
      description: 'Variables by name. Blocks refer to them as {{context.name}}.',
    }),
  ),
}

const definitionInput = schema(t.Object(definitionParts))
export type FlowDefinitionInput = TypeOf<typeof definitionInput>

/** A block and an edge in responses. */
const nodeView = t.Object(
  { id: t.String(), type: t.String(), config: t.Record(t.String(), t.Unknown()), position },
  { title: 'FlowBlock', description: 'A block of a flow.' },
)
const edgeView = t.Object(
  { id: t.String(), source: t.String(), source_handle: t.String(), target: t.String() },
  { title: 'FlowConnection', description: 'Leads from an output of a block to another block.' },
)

const definitionView = { nodes: t.Array(nodeView), edges: t.Array(edgeView), context: t.Record(t.String(), t.String()) }

/** A reason why a flow cannot be enabled, and its block; null for the flow as a whole. */
const flowProblemView = t.Object(
  { node_id: t.Union([t.String(), t.Null()]), message: t.String() },
  { title: 'FlowProblem', description: 'What keeps a flow from being enabled.' },
)
export interface FlowProblem {
  readonly node_id: string | null
  readonly message: string
}

const description = t.Optional(nullable(t.String({ maxLength: flowLimits.descriptionCharacters })))
const enabled = t.Optional(nullable(t.Boolean({ description: 'Only possible when the flow has no problems.' })))

/** Input of a new flow (docs/contract/flows.md#saving-a-flow). */
export const flowInput = schema(
  t.Object({ name: nameSchema(flowLimits.nameCharacters), description, enabled, ...definitionParts }, { title: 'FlowInput' }),
)
export type FlowInput = TypeOf<typeof flowInput>

/**
 * Change of a flow. When nodes, edges or context is present, the three replace the whole definition; other absent fields stay unchanged.
 */
export const flowChange = schema(
  t.Object({ name: t.Optional(nameSchema(flowLimits.nameCharacters)), description, enabled, ...definitionParts }, { title: 'FlowChange' }),
)
export type FlowChange = TypeOf<typeof flowChange>

const derived = (meaning: string) => nullable(t.String({ description: `${meaning} Derived from the trigger.` }))
const instantOrNull = (meaning: string) => nullable(t.String({ format: 'date-time', description: meaning }))

const before = {
  id: uuid,
  name: t.String(),
  description: t.String(),
  enabled: t.Boolean(),
  trigger_kind: nullable(t.Enum([...triggerKinds], { description: 'Null for a draft without a trigger.' })),
  trigger_type: derived('Key of the record type, or of the calendar.'),
  trigger_event: derived('What happens to the record or the calendar event.'),
  cron_expr: derived('The schedule.'),
  next_run_at: instantOrNull('When the schedule is due next; null without a schedule or while the flow is disabled.'),
  last_run_at: instantOrNull('When the last run of the flow began.'),
}
const after = {
  context: t.Record(t.String(), t.String()),
  problems: t.Array(flowProblemView, { description: 'Why the flow cannot be enabled; empty when the flow is complete.' }),
  version: t.Integer({ description: 'Number of the definition, from 1.' }),
  editor_id: t.String({ format: 'uuid', description: 'Who last changed the definition; the flow runs with their rights.' }),
  created_at: instant,
  updated_at: instant,
}

/** A flow in a response (docs/contract/flows.md#flow-fields). */
export const flowView = schema(
  t.Object(
    { ...before, nodes: t.Array(nodeView), edges: t.Array(edgeView), ...after },
    { title: 'Flow', description: 'A trigger with the blocks that follow it.' },
  ),
)
export type FlowView = TypeOf<typeof flowView>

/** A flow as lists show it, without its nodes and edges. */
export const flowSummary = schema(t.Object({ ...before, ...after }, { title: 'FlowSummary' }))
export type FlowSummary = TypeOf<typeof flowSummary>

/** Fields derived from a flow's nodes. */
export type FlowOutline = Pick<FlowSummary, 'trigger_kind' | 'trigger_type' | 'trigger_event' | 'cron_expr' | 'problems'>

/** An earlier or the present definition of a flow. */
export const flowVersionView = schema(
  t.Object(
    {
      version: t.Integer(),
      editor_id: uuid,
      created_at: instant,
      ...definitionView,
    },
    { title: 'FlowVersion' },
  ),
)
export type FlowVersionView = TypeOf<typeof flowVersionView>

/** Input of a manual start. */
export const runInput = schema(t.Object({ input: t.Optional(t.Unknown({ description: 'Any JSON: {{trigger.input}} of the blocks.' })) }))

/** Answer to a manual start. */
export const startedRun = schema(
  t.Object(
    { queued: t.Boolean(), run_id: t.String({ format: 'uuid', description: 'The run, which begins soon.' }) },
    { title: 'StartedRun' },
  ),
)
export type StartedRun = TypeOf<typeof startedRun>

/** Input of a draft: a description of the wanted flow in free text. */
export const draftInput = schema(t.Object({ prompt: t.String({ minLength: 1, maxLength: flowLimits.promptCharacters }) }))

/** A flow proposed by an assistant; nothing is saved. */
export const flowDraftView = schema(
  t.Object(
    {
      name: t.String(),
      ...definitionView,
      problems: t.Array(flowProblemView),
    },
    { title: 'FlowDraft' },
  ),
)
export type FlowDraft = TypeOf<typeof flowDraftView>
