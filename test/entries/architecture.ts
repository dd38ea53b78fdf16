import '#test/support/one-at-a-time.ts'
import '#test/architecture.test.ts'
import '#test/architecture/routes.test.ts'
