import '#test/support/one-at-a-time.ts'
import '#test/journeys/journeys.test.ts'
import '#test/journeys/contract.test.ts'
import '#test/journeys/webhook.test.ts'
