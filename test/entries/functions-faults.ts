import '#test/support/one-at-a-time.ts'
import '#test/features/functions/database-faults.test.ts'
import '#test/features/functions/faults.test.ts'
