import '#test/support/one-at-a-time.ts'
import '#test/api/pages/browser/live.test.ts'
import '#test/core/operators/console.test.ts'
