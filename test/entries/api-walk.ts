import '#test/support/one-at-a-time.ts'
import '#test/api/cursors.test.ts'
import '#test/api/walk.test.ts'
