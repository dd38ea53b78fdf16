import '#test/support/one-at-a-time.ts'
import '#test/scripts/crash.test.ts'
import '#test/scripts/install.test.ts'
import '#test/scripts/start.test.ts'
