import { defineTrigger, type KnownReferences } from '#shared/core/automation/block.ts'
import { isOfType, unknownType } from '#shared/core/events/type-names.ts'
import { anyTypeFilterProblems, filterSetting } from '#shared/core/records/blocks/tested-fields.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import { t } from '#shared/platform/kernel/schema.ts'

export const eventTrigger = defineTrigger({
  type: 'trigger.event',
  kind: 'event',
  label: 'Event',
  description: 'Runs when an event of some types comes into the list of events.',
  settings: {
    types: t.Optional(t.Array(t.String(), { description: 'Types of events, such as forms.submitted; records.* for all that begin so.' })),
    filter: filterSetting(
      'A filter of a list, which the record must match as the event left it, a deleted one as it was. Events without a record match none.',
    ),
  },
  required: ['types'],
  problems: ({ types, filter }, known) => [...typeNameProblems(types, known), ...anyTypeFilterProblems(filter, known)],
  sample: {
    event: {
      seq: 1042,
      id: '01a1a4c9-3b7e-7c05-9d21-6f8e2a4b91d0',
      type: 'records.updated',
      at: '2026-11-21T11:02:48.915000Z',
      actor: { id: '01a19bc1-0f23-7b54-9ed6-6d22568f7c36', type: 'user' },
      cause: { kind: 'request', id: null },
      subject: { object_type: 'orders', id: '01a19de5-7f04-7213-9771-5ae204c7a91c' },
      data: { view: 'changed', before: { status: 'open' }, after: { status: 'done' }, changed: ['status'] },
    },
  },
})

/** The names of types of the trigger; undefined for what is no list of texts, as an earlier release may have stored. */
export const readTypeNames = (types: unknown): readonly string[] | undefined =>
  Array.isArray(types) && types.every((name) => typeof name === 'string') ? types : undefined

function typeNameProblems(types: unknown, { eventTypes }: KnownReferences): string[] {
  if (types === undefined) return []
  const names = readTypeNames(types)
  if (!names) return ['types must be a list of types of events']
  if (names.length === 0) return ['types must name at least one type of events']
  if (names.length > flowLimits.eventTypes) return [`types must have at most ${flowLimits.eventTypes} names, got ${names.length}`]
  return names.filter((name) => ![...eventTypes].some((type) => isOfType(type, name))).map((name) => `types: ${unknownType(name)}`)
}
