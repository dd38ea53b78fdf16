import '#test/support/one-at-a-time.ts'
import '#test/deploy/files.test.ts'
import '#test/deploy/queries.test.ts'
