import '#test/support/one-at-a-time.ts'
import '#test/scripts/kontor.test.ts'
import '#test/scripts/stop.test.ts'
