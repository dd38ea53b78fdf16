import { accountingMethods } from '#shared/accounting/sdk.ts'
import { calendarMethods } from '#shared/calendar/sdk.ts'
import { flowMethods } from '#shared/flows/sdk.ts'
import { cryptoMethods } from '#shared/functions/sdk/crypto.ts'
import { driveMethods } from '#shared/functions/sdk/drive.ts'
import { functionMethods } from '#shared/functions/sdk/functions.ts'
import type { SdkMethod } from '#shared/functions/sdk/method.ts'
import { recordMethods } from '#shared/functions/sdk/records.ts'
import { secretMethods } from '#shared/functions/sdk/secrets.ts'
import { messageMethods } from '#shared/messages/sdk.ts'
import { queueMethods } from '#shared/queues/sdk.ts'

/** Every method of the SDK that functions call (decisions, Functions). A domain joins with its own table. */
export const sdkMethods: readonly SdkMethod[] = [
  ...recordMethods,
  ...functionMethods,
  ...secretMethods,
  ...cryptoMethods,
  ...driveMethods,
  ...accountingMethods,
  ...messageMethods,
  ...flowMethods,
  ...queueMethods,
  ...calendarMethods,
]
