import '#test/support/one-at-a-time.ts'
import '#test/support/contract.test.ts'
import '#test/support/factories.test.ts'
import '#test/support/watch/watch.test.ts'
