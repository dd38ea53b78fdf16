import '#test/support/one-at-a-time.ts'
import '#test/core/events/list.test.ts'
import '#test/core/events/masks.test.ts'
