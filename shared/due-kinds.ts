import { chores } from '#shared/chores.ts'
import { calendarDue } from '#shared/features/calendar/reminders/due.ts'
import { flowScheduleDue, flowWaitDue } from '#shared/features/flows/jobs.ts'
import { paymentsDue } from '#shared/features/payments/due.ts'
import { deferredJobKinds } from '#shared/platform/due/defer-job.ts'
import type { DueKind } from '#shared/platform/due/due-kind.ts'
import { defineMaintenanceKind } from '#shared/platform/due/maintenance.ts'
import { mailDue } from '#shared/platform/mail/jobs.ts'

/** The due kind of all maintenance tasks. */
export const choreKind = defineMaintenanceKind(chores)

/** Every kind of due work. A feature adds its own here. */
export const dueKinds: readonly DueKind<unknown>[] = [
  choreKind,
  ...deferredJobKinds,
  calendarDue,
  mailDue,
  ...paymentsDue,
  flowScheduleDue,
  flowWaitDue,
]
