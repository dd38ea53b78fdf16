import type { feature } from '#shared/features/queues/feature.ts'
import clearQueue from '#workers/features/queues/clear.ts'
import intakeRecordChanges from '#workers/features/queues/intake.ts'
import runOnEnter from '#workers/features/queues/on-enter.ts'
import pressButton from '#workers/features/queues/press.ts'
import verifyQueue from '#workers/features/queues/verify.ts'
import type { HandlersOf } from '#workers/platform/jobs/handler.ts'

export const handlers = {
  runOnEnter,
  intakeRecordChanges,
  pressButton,
  verifyQueue,
  clearQueue,
} satisfies HandlersOf<typeof feature.jobs>
