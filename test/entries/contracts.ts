import '#test/support/one-at-a-time.ts'
import '#test/contracts.test.ts'
