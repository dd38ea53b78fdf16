import '#test/support/one-at-a-time.ts'
import '#test/platform/due/due.test.ts'
import '#test/platform/due/maintenance.test.ts'
import '#test/platform/due/rest.test.ts'
