import { filterJson } from '#shared/core/records/schemas.ts'
import { typeKey } from '#shared/core/types/schemas.ts'
import { queueLimits as limits } from '#shared/features/queues/limits.ts'
import { nameSchema } from '#shared/platform/kernel/name.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

const key = t.String({
  pattern: '^[a-z0-9_-]{1,60}$',
  description: '1 to 60 lowercase letters, digits, hyphens and underscores',
})
const name = nameSchema(limits.nameCharacters)
const label = t.String({ minLength: 1, maxLength: limits.nameCharacters })
const count = t.Integer({ minimum: 0, maximum: 2_147_483_647 })

const kinds = ['start', 'normal', 'terminal'] as const

/** The function or flow that runs when an item enters a stage. */
const onEnter = t.Object({ function_id: t.Optional(nullable(uuid)), flow_id: t.Optional(nullable(uuid)) })

const button = {
  label,
  function_id: uuid,
  input: t.Optional(t.Unknown({ description: 'Any JSON; the function receives it as input.input.' })),
}

const patch = t.Record(t.String(), t.String({ maxLength: 2_000 }), {
  maxProperties: 50,
  description:
    'By field key, the text that a move into the stage writes to the linked record; it may hold {{item.key}} and other references.',
})

const stageInput = t.Object(
  {
    key: t.Optional(key),
    label: t.Optional(label),
    kind: t.Optional(t.Enum([...kinds])),
    position: t.Optional(t.Number()),
    from: t.Optional(
      t.Array(key, { maxItems: limits.stages, description: 'Keys of the stages from which an item may enter; empty for any.' }),
    ),
    wip_limit: t.Optional(count),
    sla_seconds: t.Optional(count),
    record_patch: t.Optional(nullable(patch)),
    on_enter: t.Optional(nullable(onEnter)),
    buttons: t.Optional(t.Array(t.Object({ id: t.Optional(key), ...button }), { maxItems: limits.buttonsPerStage })),
  },
  { title: 'QueueStageInput' },
)

const intakeInput = t.Object(
  {
    enabled: t.Optional(t.Boolean()),
    filter: t.Optional(filterJson),
    stage: t.Optional(nullable(key)),
    key_field: t.Optional(
      nullable(
        t.String({
          description: "The field whose value is the item's key. When blank, or not readable by the editor, the key is the record's id.",
        }),
      ),
    ),
    close_on_unmatch: t.Optional(t.Boolean()),
  },
  { title: 'QueueIntakeInput' },
)

const settingsInput = t.Object(
  {
    on_unknown_scan: t.Optional(t.Enum(['reject', 'create'])),
    lease_seconds: t.Optional(t.Integer({ minimum: 1, maximum: limits.maxLeaseSeconds })),
    allow_duplicates: t.Optional(t.Boolean()),
    items_follow_records: t.Optional(
      t.Boolean({
        description:
          'Whether an item is hidden from callers that may not read its record. Limits of stages and verify count all items. Needs object_type.',
      }),
    ),
  },
  { title: 'QueueSettingsInput' },
)

const definition = {
  object_type: t.Optional(nullable(typeKey)),
  enabled: t.Optional(t.Boolean()),
  stages: t.Optional(t.Array(stageInput, { minItems: 1, maxItems: limits.stages })),
  intake: t.Optional(nullable(intakeInput)),
  settings: t.Optional(nullable(settingsInput)),
}

/** Body that creates a queue (docs/contract/queues.md#queue-fields). */
export const queueInput = schema(t.Object({ key: t.Optional(key), name, ...definition }, { title: 'QueueInput' }))
/** Body that replaces a queue's definition; omitted properties stay unchanged. */
export const queueReplacement = schema(
  t.Object({ key: t.Optional(key), name: t.Optional(name), ...definition }, { title: 'QueueReplacement' }),
)
export type QueueInput = TypeOf<typeof queueReplacement>
export type StageInput = NonNullable<QueueInput['stages']>[number]

/** A stage as stored and answered, ordered by `position`. */
const stage = t.Object(
  {
    key: t.String(),
    label: t.String(),
    kind: t.Enum([...kinds]),
    position: t.Number(),
    from: t.Array(t.String()),
    wip_limit: t.Integer(),
    sla_seconds: t.Integer(),
    record_patch: nullable(t.Record(t.String(), t.String())),
    on_enter: nullable(t.Object({ function_id: t.Optional(uuid), flow_id: t.Optional(uuid) })),
    buttons: t.Array(t.Object({ id: t.String(), ...button })),
  },
  { title: 'QueueStage' },
)

const intake = t.Object({
  enabled: t.Boolean(),
  filter: filterJson,
  stage: nullable(t.String()),
  key_field: nullable(t.String()),
  close_on_unmatch: t.Boolean(),
})

const settings = t.Object({
  on_unknown_scan: t.Enum(['reject', 'create']),
  lease_seconds: t.Integer(),
  allow_duplicates: t.Boolean(),
  items_follow_records: t.Boolean(),
})

/** Counts of a queue's items (docs/contract/queues.md#counts). */
export const queueSummary = t.Object(
  {
    total: t.Integer(),
    open: t.Integer(),
    closed: t.Integer(),
    overdue: t.Integer({ description: 'Computed from the time of the request.' }),
    unexpected: t.Integer({ description: 'Items created by a scan of an unknown key.' }),
    by_stage: t.Record(t.String(), t.Integer(), { description: 'Open and closed items by stage key; the sum is total.' }),
  },
  { title: 'QueueSummary' },
)
export type QueueSummary = TypeOf<ReturnType<typeof schema<typeof queueSummary>>>

const parts = {
  id: uuid,
  key: t.String(),
  name: t.String(),
  object_type: nullable(t.String()),
  enabled: t.Boolean(),
  stages: t.Array(stage),
  intake,
  settings,
  created_at: instant,
  updated_at: instant,
}

/** A stored queue, with its stages in order. */
const stored = schema(t.Object({ ...parts, editor_id: nullable(uuid) }))
export type Queue = TypeOf<typeof stored>
export type Stage = Queue['stages'][number]
export type Button = Stage['buttons'][number]

/** A queue as answered to callers. */
export const queueView = schema(
  t.Object({ ...parts, summary: queueSummary }, { title: 'Queue', description: 'A work queue: items move through its stages.' }),
)
export type QueueView = TypeOf<typeof queueView>

/** A queue's name in its summary and board. */
export const queueName = t.Object({ id: uuid, key: t.String(), name: t.String() })
export const queueNameOf = ({ id, key, name }: Queue) => ({ id, key, name })

/** Properties of a stage in the answer of a board, besides the stage's items. */
export const stageHeading = { key: t.String(), label: t.String(), kind: t.Enum([...kinds]), position: t.Number(), wip_limit: t.Integer() }
