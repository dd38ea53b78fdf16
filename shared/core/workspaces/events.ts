import type { EventFamily, ShowEvent } from '#shared/core/events/event-type.ts'
import { defineEvents, showStored } from '#shared/core/events/show-stored.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { t } from '#shared/platform/kernel/schema.ts'

const subject = t.Object({ id: t.String({ format: 'uuid', description: 'Of the person.' }) }, { title: 'MemberSubject' })
const example = { subject: { id: '01a19bc1-0f23-7b54-9ed6-6d22568f7c36' }, data: {} }

export const memberEvents = defineEvents('iam:manage_members', [
  { type: 'members.joined', description: 'A person accepted an invitation and is a member now.', subject, data: t.Object({}), example },
  { type: 'members.left', description: 'A member was removed.', subject, data: t.Object({}), example },
])

/** Shows failures to who sees the job (docs/contract/jobs.md#who-sees-a-job): its starter, and holders of org:update. */
const prepareFailures =
  async (scope: Scope): Promise<ShowEvent> =>
  async (event) => {
    const starter = event.cause?.actorId ?? null
    return (starter !== null && starter === scope.actor.id) || permits(scope, 'org:update') ? showStored(event) : undefined
  }

/** A trigger of `operations` announces these events, whatever makes a job fail (`announce_failed_job`). */
export const jobEvents: EventFamily = {
  types: [
    {
      type: 'jobs.failed',
      description: 'A job failed: by what its caller sent, after its last attempt, or since an operator cancelled it.',
      permission: 'org:update, or having started the job',
      subject: t.Object({ id: t.String({ format: 'uuid', description: 'Of the job.' }) }, { title: 'JobSubject' }),
      data: t.Object({
        kind: t.String({ description: 'Such as records.import.' }),
        status: t.Literal('failed'),
        code: t.String({ description: 'The code of its error.' }),
      }),
      example: {
        subject: { id: '01a1a2d4-6c3b-7f0e-8a55-0d1f6be0a9c4' },
        data: { kind: 'records.import', status: 'failed', code: 'VALIDATION_ERROR' },
      },
    },
  ],
  prepare: prepareFailures,
}
