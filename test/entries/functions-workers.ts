import '#test/support/one-at-a-time.ts'
import '#test/features/functions/hostile.test.ts'
import '#test/features/functions/late.test.ts'
import '#test/features/functions/slots.test.ts'
