import { defineEvents } from '#shared/core/events/show-stored.ts'
import { t } from '#shared/platform/kernel/schema.ts'

const subject = t.Object({ id: t.String({ format: 'uuid', description: 'Of the person.' }) }, { title: 'MemberSubject' })
const example = { subject: { id: '01a19bc1-0f23-7b54-9ed6-6d22568f7c36' }, data: {} }

export const memberEvents = defineEvents('iam:manage_members', [
  { type: 'members.joined', description: 'A person accepted an invitation and is a member now.', subject, data: t.Object({}), example },
  { type: 'members.left', description: 'A member was removed.', subject, data: t.Object({}), example },
])
