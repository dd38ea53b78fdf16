import { changeEvents } from '#shared/platform/events/event-delivery.ts'
import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

/** What a rule is made of (document 1, Notification rule). */
const parts = {
  name: t.String({ minLength: 1, maxLength: 120 }),
  object_type: t.String({ description: 'Key of an existing record type.' }),
  event: t.Enum([...changeEvents], { description: 'What happens to a record of the type.' }),
  title: t.String({ minLength: 1, maxLength: 200, description: 'What the inbox shows.' }),
}
const audience = t.Enum(['all_members'], { description: 'Who gets the item: every member of the workspace, the actor included.' })

/** What makes a notification rule; it is enabled at once. */
export const notificationRuleInput = schema(t.Object({ ...parts, audience: t.Optional(audience) }, { title: 'NotificationRuleInput' }))
export type NotificationRuleInput = TypeOf<typeof notificationRuleInput>

/** What may change of a rule: what is left out stays. */
export const notificationRuleChange = schema(
  t.Object(
    {
      ...t.Partial(t.Object(parts)).properties,
      audience: t.Optional(audience),
      enabled: t.Optional(t.Boolean({ description: 'False keeps the rule and lets it rest.' })),
    },
    { title: 'NotificationRuleChange' },
  ),
)
export type NotificationRuleChange = TypeOf<typeof notificationRuleChange>

/** A rule as it is kept and read. */
export const notificationRule = schema(
  t.Object(
    {
      id: t.String({ format: 'uuid' }),
      ...parts,
      audience,
      enabled: t.Boolean(),
      created_at: t.String({ format: 'date-time' }),
      updated_at: t.String({ format: 'date-time' }),
    },
    { title: 'NotificationRule', description: 'Puts an item into the inbox of every member when a record of a type changes.' },
  ),
)
export type NotificationRule = TypeOf<typeof notificationRule>
