import { filterJson } from '#shared/core/records/schemas.ts'
import { changeEvents } from '#shared/platform/events/event-delivery.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

/** Properties of a rule (docs/contract/notifications.md#notification-rules). */
const ruleProperties = {
  name: t.String({ minLength: 1, maxLength: 120 }),
  object_type: t.String({ description: 'Key of an existing record type.' }),
  event: t.Enum([...changeEvents], { description: 'What happens to a record of the type.' }),
  title: t.String({ minLength: 1, maxLength: 200, description: 'Title of the inbox items.' }),
}
const filter = nullable(filterJson)
const audience = t.Enum(['all_members'], { description: 'Who gets the item: every member of the workspace, the actor included.' })

/** Body that creates a notification rule, enabled at once. */
export const notificationRuleInput = schema(
  t.Object({ ...ruleProperties, filter: t.Optional(filter), audience: t.Optional(audience) }, { title: 'NotificationRuleInput' }),
)
export type NotificationRuleInput = TypeOf<typeof notificationRuleInput>

/** Body that changes a rule. Omitted properties stay unchanged. */
export const notificationRuleChange = schema(
  t.Object(
    {
      ...t.Partial(t.Object(ruleProperties)).properties,
      filter: t.Optional(filter),
      audience: t.Optional(audience),
      enabled: t.Optional(t.Boolean({ description: 'False: the rule is kept and does not fire.' })),
    },
    { title: 'NotificationRuleChange' },
  ),
)
export type NotificationRuleChange = TypeOf<typeof notificationRuleChange>

/** A rule in a response. */
export const notificationRule = schema(
  t.Object(
    {
      id: uuid,
      ...ruleProperties,
      filter,
      audience,
      enabled: t.Boolean(),
      created_at: instant,
      updated_at: instant,
    },
    { title: 'NotificationRule', description: 'Puts an item into the inbox of every member when a record of a type changes.' },
  ),
)
export type NotificationRule = TypeOf<typeof notificationRule>
