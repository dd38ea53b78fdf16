import { defineEvents } from '#shared/core/events/show-stored.ts'
import { t } from '#shared/platform/kernel/schema.ts'

export const roleEvents = defineEvents('iam:manage_groups', [
  {
    type: 'roles.changed',
    description: 'A role was created, changed or deleted.',
    subject: t.Object({ id: t.String({ format: 'uuid', description: 'Of the role.' }) }, { title: 'RoleSubject' }),
    data: t.Object({ change: t.Enum(['created', 'updated', 'deleted']) }),
    example: { subject: { id: '01a19c59-6284-738e-a0aa-6ca4cf739ad9' }, data: { change: 'updated' } },
  },
])
