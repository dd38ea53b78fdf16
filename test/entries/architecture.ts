import '#test/support/one-at-a-time.ts'
import '#test/architecture.test.ts'
