import { accountingExamples } from '#test/api/walk/accounting-examples.ts'
import { calendarExamples } from '#test/api/walk/calendar-examples.ts'
import { driveExamples } from '#test/api/walk/drive-examples.ts'
import type { Examples } from '#test/api/walk/example.ts'
import { flowExamples } from '#test/api/walk/flow-examples.ts'
import { formExamples } from '#test/api/walk/form-examples.ts'
import { functionExamples } from '#test/api/walk/function-examples.ts'
import { messageExamples } from '#test/api/walk/message-examples.ts'
import { paymentExamples } from '#test/api/walk/payment-examples.ts'
import { platformExamples } from '#test/api/walk/platform-examples.ts'
import { queueExamples } from '#test/api/walk/queue-examples.ts'
import { recordExamples } from '#test/api/walk/record-examples.ts'
import { siteExamples } from '#test/api/walk/site-examples.ts'
import { workspaceExamples } from '#test/api/walk/workspace-examples.ts'

/** An example of every route. */
export const examples: Examples = {
  ...platformExamples,
  ...workspaceExamples,
  ...recordExamples,
  ...functionExamples,
  ...flowExamples,
  ...formExamples,
  ...siteExamples,
  ...accountingExamples,
  ...paymentExamples,
  ...messageExamples,
  ...driveExamples,
  ...calendarExamples,
  ...queueExamples,
}
