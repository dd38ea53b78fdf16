import '#test/support/one-at-a-time.ts'
import '#test/deploy/queries.test.ts'
